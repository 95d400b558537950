/* SPDX-License-Identifier: GPL-2.0-only */
/* Maps for counting without loss (--exact), and for counting only some processes (-p). User space sets their
 * sizes. */
#ifndef HOG_BPF_LIB_EXACT_MAPS_H
#define HOG_BPF_LIB_EXACT_MAPS_H

#include "kernel/helpers.bpf.h"

/* hog_exact_0, hog_exact_1: a value by key, a map per bank. */
#define EXACT_MAPS(value_type)                                                                               \
    struct exact_map {                                                                                       \
        __uint(type, BPF_MAP_TYPE_HASH);                                                                     \
        __uint(max_entries, 1);                                                                              \
        __type(key, u64);                                                                                    \
        __type(value, value_type);                                                                           \
    };                                                                                                       \
    struct exact_map hog_exact_0 SEC(".maps"), hog_exact_1 SEC(".maps")

/* hog_tracked: the process ids asked for. */
#define TRACKED_MAP                                                                                          \
    struct {                                                                                                 \
        __uint(type, BPF_MAP_TYPE_HASH);                                                                     \
        __uint(max_entries, 1);                                                                              \
        __type(key, u32);                                                                                    \
        __type(value, u8);                                                                                   \
    } hog_tracked SEC(".maps")

#endif
