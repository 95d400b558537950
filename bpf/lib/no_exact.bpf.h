/* SPDX-License-Identifier: GPL-2.0-only */
/* The maps that side.c wants of each object, for one that does not count by the sketch and so has nothing to
 * put in their place. */
#ifndef HOG_BPF_LIB_NO_EXACT_H
#define HOG_BPF_LIB_NO_EXACT_H

struct exact_map {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 1);
    __type(key, u64);
    __type(value, u64);
};
struct exact_map hog_exact_0 SEC(".maps"), hog_exact_1 SEC(".maps");

#endif
