/* SPDX-License-Identifier: GPL-2.0-only */
/* The programs of bpf/calls.bpf.c and their maps, in the kernel. */
#ifndef HOG_METRIC_CALLS_LOAD_H
#define HOG_METRIC_CALLS_LOAD_H

#include "metric/calls_probes.h"
#include "metric/pinned.h"
#include "metric/side.h"
#include "sketch/seats.h"

struct calls_load {
    struct side side;
    struct seats seats;             /* by calls_id() */
    struct calls_probes *probes;    /* for calls of functions; NULL: those of the system are counted */
    struct pinned pinned;           /* where another hog counts */
    struct hog_function *functions; /* there */
    size_t nfunctions;
};

extern const struct hook_ways calls_ways[];

int calls_load_open(struct calls_load *load, const struct metric_context *context,
                    struct hook_report hooks[MAX_HOOKS], struct why *w);
/* By number; NULL: there is none. */
const struct hog_function *calls_load_function(const struct calls_load *load, uint32_t number);
void calls_load_close(struct calls_load *load);

#endif
