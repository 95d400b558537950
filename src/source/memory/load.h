/* SPDX-License-Identifier: GPL-2.0-only */
/* Getting bpf/memory.bpf.c into the kernel. */
#ifndef HOG_SOURCE_MEMORY_LOAD_H
#define HOG_SOURCE_MEMORY_LOAD_H

#include "source/shared/collector.h"

struct mem_load {
    struct collector collector;
    bool marks;  /* changes are seen */
    bool parts;  /* one part at a time */
    bool by_ids; /* keys are made from what helpers say */
    int look;    /* the iterator's link; -1: /proc must be asked */
};

extern const struct hook_ways mem_ways[];

/* What cannot be had from the kernel is left to /proc; fails if that cannot be asked, either. */
int mem_load(struct mem_load *load, const struct source_context *context, struct hook_report hooks[MAX_HOOKS],
             struct error *why);
void mem_unload(struct mem_load *load);

#endif
