/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOG_BPF_LIB_TRACKED_H
#define HOG_BPF_LIB_TRACKED_H

/* Processes asked for, if any. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, u8);
} hog_tracked SEC(".maps");

#endif
