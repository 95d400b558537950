/* SPDX-License-Identifier: GPL-2.0-only */
/* Loads bpf/calls.bpf.c and its maps. */
#ifndef HOG_SOURCE_CALLS_LOAD_H
#define HOG_SOURCE_CALLS_LOAD_H

#include "source/calls/probes.h"
#include "source/shared/pinned.h"
#include "source/shared/collector.h"
#include "source/shared/histogram_by_key.h"

struct calls_load {
    struct collector collector;
    struct histogram_by_key histogram_by_key; /* keyed by calls_id() */
    struct calls_probes *probes;              /* for function calls; NULL: system calls are counted */
    struct pinned pinned;                     /* when another hog counts */
    struct hog_function *functions;           /* of the pin */
    size_t nfunctions;
};

extern const struct hook_ways calls_ways[];

int calls_load_open(struct calls_load *load, const struct source_context *context,
                    struct hook_report hooks[MAX_HOOKS], struct error *why);
/* NULL: no such number. */
const struct hog_function *calls_load_function(const struct calls_load *load, uint32_t number);
void calls_load_close(struct calls_load *load);

#endif
