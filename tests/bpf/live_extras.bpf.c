/* SPDX-License-Identifier: GPL-2.0-only */
/* Maps that hog itself has no use for: slots that are set, a map of maps, a pin by name. */
#include "kernel/helpers.bpf.h"

static long (*const bpf_tail_call)(void *ctx, void *array, u32 index) = (void *)BPF_FUNC_tail_call;

#define __array(name, v) typeof(v) *name[]

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 10);
    __type(key, u32);
    __type(value, u32);
    __uint(pinning, 1); /* by name */
} hog_test_by_name SEC(".maps");

struct inner {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, u32);
} hog_test_inner SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
    __uint(max_entries, 2);
    __type(key, u32);
    __array(values, struct inner);
} hog_test_outer SEC(".maps") = {
    .values = {[1] = &hog_test_inner},
};

int tail(void *ctx);

struct {
    __uint(type, BPF_MAP_TYPE_PROG_ARRAY);
    __uint(max_entries, 2);
    __type(key, u32);
    __array(values, int(void *));
} hog_test_progs SEC(".maps") = {
    .values = {[1] = (void *)&tail},
};

u32 tail_ran;

SEC("raw_tp/sys_enter") int tail(void *ctx)
{
    tail_ran++;
    return 11;
}

SEC("raw_tp/sys_enter") int on_run(void *ctx)
{
    u32 one = 1, first = 0;
    void *inner = bpf_map_lookup_elem(&hog_test_outer, &one);
    u32 *value = inner ? bpf_map_lookup_elem(inner, &first) : 0;

    if (value)
        *value += 5;
    bpf_map_update_elem(&hog_test_by_name, &one, &first, 0);
    bpf_tail_call(ctx, &hog_test_progs, 1);
    return 9;
}

char LICENSE[] SEC("license") = "GPL";
