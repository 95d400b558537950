/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOG_BPF_LIB_LOG2_H
#define HOG_BPF_LIB_LOG2_H

#include "kernel/helpers.bpf.h"

/* Rounded down; 0 for 0. Without branches: verifiers would go on from each result. */
static __always_inline u64 log2_of(u64 v)
{
    u64 log = 0;

#pragma unroll
    for (u32 half = 32; half; half /= 2) {
        u64 times = is_set(v >> half) * half;
        v >>= times;
        log += times;
    }
    return log;
}

#endif
