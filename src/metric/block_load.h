/* SPDX-License-Identifier: GPL-2.0-only */
/* Getting bpf/block.bpf.c into the kernel. */
#ifndef HOG_METRIC_BLOCK_LOAD_H
#define HOG_METRIC_BLOCK_LOAD_H

#include "metric/side.h"

struct block_load {
    struct side side;
    bool waits; /* who sleeps for I/O is seen */
};

int block_load(struct block_load *load, const struct metric_context *context,
               struct hook_report hooks[MAX_HOOKS], struct why *w);
/* For counts that outlive hog. */
int block_pin(struct side *side, const struct metric_context *context, struct hook_report hooks[MAX_HOOKS],
              struct why *w);
void block_unload(struct block_load *load);

#endif
