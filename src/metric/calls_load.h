/* SPDX-License-Identifier: GPL-2.0-only */
/* The programs of bpf/calls.bpf.c and their maps, in the kernel. */
#ifndef HOG_METRIC_CALLS_LOAD_H
#define HOG_METRIC_CALLS_LOAD_H

#include "metric/calls_probes.h"
#include "metric/side.h"
#include "sketch/seats.h"

struct calls_load {
    struct side side;
    struct seats seats;          /* by calls_id() */
    struct calls_probes *probes; /* for calls of functions; NULL: those of the system are counted */
};

extern const struct hook_ways calls_ways[];

int calls_load_open(struct calls_load *load, const struct metric_context *context,
                    struct hook_report hooks[MAX_HOOKS], struct why *w);
void calls_load_close(struct calls_load *load);

#endif
