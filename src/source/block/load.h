/* SPDX-License-Identifier: GPL-2.0-only */
/* Loads bpf/block.bpf.c. */
#ifndef HOG_SOURCE_BLOCK_LOAD_H
#define HOG_SOURCE_BLOCK_LOAD_H

#include "source/shared/collector.h"

struct block_load {
    struct collector collector;
    bool waits; /* sleeps for I/O are seen */
};

int block_load(struct block_load *load, const struct source_context *context,
               struct hook_report hooks[MAX_HOOKS], struct error *why);
/* For pinned counts, which outlive hog. */
int block_pin(struct collector *collector, const struct source_context *context,
              struct hook_report hooks[MAX_HOOKS], struct error *why);
void block_unload(struct block_load *load);

#endif
