// SPDX-License-Identifier: GPL-2.0-only
/* The sketch, driven from user space through BPF_PROG_TEST_RUN: the arguments are a key, a weight and a
 * count. */
#include "lib/sketch.bpf.h"
#include "lib/level.bpf.h"

char gpl[] SEC("license") = "GPL";

struct hog_test {
    struct hog_pipe pipe;
    u64 reserved[2];
    struct hog_slot slots[PIPE_SLOTS];
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct hog_test);
} hog_sketch SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct hog_levels);
} hog_levels SEC(".maps");

SEC("raw_tp/test")
int test_flow(void *ctx)
{
    u32 zero = 0;
    struct hog_test *t = bpf_map_lookup_elem(&hog_sketch, &zero);

    if (!t)
        return 1;
    bool first;
    u32 flip = pipe_enter(&t->pipe, &first);
    pipe_add(&t->pipe, t->slots, flip, argument(ctx, 0, u64), argument(ctx, 1, u64), argument(ctx, 2, u64));
    pipe_leave(&t->pipe);
    return 0;
}

SEC("raw_tp/test")
int test_level(void *ctx)
{
    u32 first = 0;
    struct hog_levels *levels = bpf_map_lookup_elem(&hog_levels, &first);

    if (!levels)
        return 1;
    level_add(levels, argument(ctx, 0, u64), argument(ctx, 1, s64));
    return 0;
}
