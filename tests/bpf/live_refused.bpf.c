/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs that every verifier refuses, each with another number of instructions, by which a trace of the
 * loads tells them apart. */
#include "kernel/helpers.bpf.h"

static long (*const no_helper)(void *ctx) = (void *)9999;

/* EACCES */
SEC("raw_tp/sys_exit") int reads_anywhere(u64 *ctx)
{
    return *(volatile int *)(ctx[1] + 8);
}

/* EINVAL, which also means an attribute that the kernel does not know */
SEC("raw_tp/sys_exit") int calls_nothing(u64 *ctx)
{
    return (int)(no_helper(ctx) ^ ctx[0]);
}

/* The reason stands behind a log of hundreds of kilobytes. */
#define FOUR(x)     x x x x
#define THOUSAND(x) FOUR(FOUR(FOUR(FOUR(FOUR(x)))))
SEC("raw_tp/sys_exit") int is_long(u64 *ctx)
{
    volatile u64 local = ctx[0];

    THOUSAND(local++;)
    return *(volatile int *)(ctx[1] + local);
}

char LICENSE[] SEC("license") = "GPL";
