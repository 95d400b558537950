/* SPDX-License-Identifier: GPL-2.0-only */
/* Getting bpf/cpu.bpf.c into the kernel. */
#ifndef HOG_METRIC_ONCPU_LOAD_H
#define HOG_METRIC_ONCPU_LOAD_H

#include "metric/metric.h"
#include "sketch/sketch.h"

struct oncpu_load {
    struct object *obj;
    struct sketch sketch;
    int64_t clock_offset; /* of our CLOCK_MONOTONIC to that of the programs */
    bool exact;           /* lossless maps in place of the sketch */
    const struct object_map *exact_maps[2];
    const struct object_map *births; /* NULL: keys carry their birth */
    struct link links[3];
};

extern const struct hook_ways oncpu_ways[];

int oncpu_load(struct oncpu_load *load, const struct metric_context *context,
               struct hook_report hooks[MAX_HOOKS], struct why *w);
void oncpu_unload(struct oncpu_load *load);

/* The birth part of a key, as seen at the fork; 0: not seen. */
uint32_t oncpu_birth(const struct oncpu_load *load, uint32_t thread);

void oncpu_load_cost(const struct oncpu_load *load, struct program_cost *cost);

#endif
