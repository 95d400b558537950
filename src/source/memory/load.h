/* SPDX-License-Identifier: GPL-2.0-only */
/* Loads bpf/memory.bpf.c. */
#ifndef HOG_SOURCE_MEMORY_LOAD_H
#define HOG_SOURCE_MEMORY_LOAD_H

#include "source/shared/collector.h"

/* Of the command line: rows by mapped memory; by the maximum in the window; with the proportional set size.
 */
extern struct memory_options {
    bool vm, peak, pss;
} memory_options;

struct mem_load {
    struct collector collector;
    bool marks;   /* changes of counters are seen */
    bool parts;   /* changes arrive one part (file, anon, shmem) at a time */
    bool by_ids;  /* keys are built from helper results */
    int snapshot; /* link of the iterator; -1: read /proc instead */
};

/* Of the command line: rows by mapped memory; by the maximum in the window; with the proportional set size.
 */
extern const struct hook_ways mem_ways[];

/* Falls back to /proc for what the kernel side does not offer; fails if /proc is no help either. */
int mem_load(struct mem_load *load, const struct source_context *context, struct hook_report hooks[MAX_HOOKS],
             struct error *why);
void mem_unload(struct mem_load *load);

#endif
