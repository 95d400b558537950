/* SPDX-License-Identifier: GPL-2.0-only */
/* Call stacks, each kept once under the hash of its addresses. BPF_MAP_TYPE_STACK_TRACE keeps one stack a
 * bucket: when two share one, the second is lost however often it occurs. */
#ifndef HOG_BPF_LIB_FRAMES_H
#define HOG_BPF_LIB_FRAMES_H

#include "kernel/helpers.bpf.h"

static long (*const bpf_get_stack)(void *ctx, void *to, u32 size, u64 flags) = (void *)BPF_FUNC_get_stack;

#define USER_STACK 256 /* BPF_F_USER_STACK */

/* Ids that are no hash. */
enum hog_frames_id {
    HOG_FRAMES_NONE = 0, /* there is no such stack */
    HOG_FRAMES_LOST = 1, /* the table is full */
};
const volatile enum hog_frames_id frames_layout = HOG_FRAMES_NONE;

/* Of an id: fewer, where it is kept in less. */
#ifndef FRAMES_ID_BITS
#define FRAMES_ID_BITS 64
#endif

/* Innermost first; `most` of them at most. */
#define FRAMES_TABLE(most, entries)                                                                          \
    struct hog_frames {                                                                                      \
        u64 n;                                                                                               \
        u64 at[most];                                                                                        \
    };                                                                                                       \
    struct {                                                                                                 \
        __uint(type, BPF_MAP_TYPE_HASH);                                                                     \
        __uint(max_entries, entries);                                                                        \
        __type(key, u64);                                                                                    \
        __type(value, struct hog_frames);                                                                    \
    } hog_frames SEC(".maps");                                                                               \
                                                                                                             \
    static __always_inline u64 frames_id(const struct hog_frames *frames, u64 seed)                          \
    {                                                                                                        \
        u64 id = seed;                                                                                       \
                                                                                                             \
        for (u32 i = 0; i < (most); i++) {                                                                   \
            if (i >= frames->n)                                                                              \
                break;                                                                                       \
            id = (id ^ frames->at[i]) * 0x9e3779b97f4a7c15ull;                                               \
            id ^= id >> 29;                                                                                  \
        }                                                                                                    \
        return id >> (64 - FRAMES_ID_BITS) | 2;                                                              \
    }                                                                                                        \
                                                                                                             \
    /* Keeps `frames`, whose n addresses are set, and returns their id. */                                   \
    static __always_inline u64 frames_keep(const struct hog_frames *frames)                                  \
    {                                                                                                        \
        u64 id = frames_id(frames, frames->n);                                                               \
                                                                                                             \
        if (bpf_map_lookup_elem(&hog_frames, &id))                                                           \
            return id;                                                                                       \
        /* BPF_NOEXIST and a second lookup: another CPU may have been first. */                              \
        if (bpf_map_update_elem(&hog_frames, &id, frames, BPF_NOEXIST) &&                                    \
            !bpf_map_lookup_elem(&hog_frames, &id))                                                          \
            return HOG_FRAMES_LOST;                                                                          \
        return id;                                                                                           \
    }

#endif
