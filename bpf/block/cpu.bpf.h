/* SPDX-License-Identifier: GPL-2.0-only */
/* What a CPU remembers from one event to the next. */
#ifndef HOG_BPF_BLOCK_CPU_H
#define HOG_BPF_BLOCK_CPU_H

#include "lib/sketch.bpf.h"

struct hog_block_cpu {
    struct hog_pipe pipe;
    u64 clock_offset, clock_compared; /* see switch_time() */
    u64 maker, number, key;           /* the latest task that created a request: see maker_key() */
    u64 padding[5];
    struct hog_slot slots[PIPE_SLOTS]; /* unused: there is no sketch */
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct hog_block_cpu);
} hog_sketch SEC(".maps");

#endif
