/* SPDX-License-Identifier: GPL-2.0-only */
/* Types that older kernels do not know: float, tags, 64-bit enums, global functions. */
#include "kernel/helpers.bpf.h"

enum wide { SMALL = 1, WIDE = 1ULL << 40 };
enum negative { MINUS = -1, PLUS = 1 };

#define tagged  __attribute__((btf_type_tag("user")))
#define labeled __attribute__((btf_decl_tag("label")))

struct all_kinds {
    double real;
    enum wide wide;
    enum wide field : 30; /* no kernel takes more than 32 bits of an enum */
    enum negative sign;
    int tagged *pointer;
    u32 with_label labeled;
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 2);
    __type(key, u32);
    __type(value, struct all_kinds);
} hog_test_kinds SEC(".maps");

u32 labeled ran;

__attribute__((noinline)) int global_function(u32 x)
{
    return x + 5;
}

SEC("raw_tp/sys_enter") int on_run(void *ctx)
{
    u32 zero = 0;
    struct all_kinds *all = bpf_map_lookup_elem(&hog_test_kinds, &zero);

    ran++;
    if (!all)
        return 1;
    all->wide = WIDE;
    all->sign = MINUS;
    return global_function(ran);
}

char LICENSE[] SEC("license") = "GPL";
