/* SPDX-License-Identifier: GPL-2.0-only */
/* Maps of kinds that need special handling, and variables. */
#include "kernel/helpers.bpf.h"

static long (*const bpf_tail_call)(void *ctx, void *array, u32 index) = (void *)BPF_FUNC_tail_call;

#define __array(name, v) typeof(v) *name[]

struct pair {
    u32 a;
    u64 b;
};

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 10000);
    __type(key, u32);
    __type(value, struct pair);
} hog_test_hash SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_HASH);
    __uint(max_entries, 1000);
    __type(key, u64);
    __type(value, u32);
} hog_test_percpu SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, 1000);
    __type(key, u32);
    __type(value, struct pair);
} hog_test_mapped SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 10);
    __type(key, u32);
    __type(value, u32);
    __uint(pinning, 1); /* by name */
} hog_test_pinned SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
    __uint(key_size, 4);
    __uint(value_size, 4);
} hog_test_perf SEC(".maps");

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

const volatile u64 constant = 0x1122334455667788;
u64 initialized = 42;
u64 zero;
u64 seen_constant, seen_initialized, seen_zero;
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

    seen_constant = constant;
    seen_initialized = initialized++;
    seen_zero = zero;
    if (inner) {
        u32 *value = bpf_map_lookup_elem(inner, &first);
        if (value)
            *value += 5;
    }
    struct pair *pair = bpf_map_lookup_elem(&hog_test_mapped, &one);
    if (pair)
        pair->b += 3;
    bpf_tail_call(ctx, &hog_test_progs, 1);
    return 9;
}

char LICENSE[] SEC("license") = "GPL";
