/* SPDX-License-Identifier: GPL-2.0-only */
/* Maps of kinds that need special handling, and variables. */
#include "kernel/helpers.bpf.h"

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
    __uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
    __uint(key_size, 4);
    __uint(value_size, 4);
} hog_test_perf SEC(".maps");

const volatile u64 constant = 0x1122334455667788;
u64 initialized = 42;
u64 zero;
u64 seen_constant, seen_initialized, seen_zero;

SEC("raw_tp/sys_enter") int on_run(void *ctx)
{
    u32 one = 1;

    seen_constant = constant;
    seen_initialized = initialized++;
    seen_zero = zero;
    struct pair *pair = bpf_map_lookup_elem(&hog_test_mapped, &one);
    if (pair)
        pair->b += 3;
    return 9;
}

char LICENSE[] SEC("license") = "GPL";
