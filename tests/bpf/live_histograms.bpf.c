// SPDX-License-Identifier: GPL-2.0-only
/* Histograms by key, driven from user space through BPF_PROG_TEST_RUN: the arguments are a key, a time, and
 * the sum of the key's times. */
#include "lib/histogram_by_key.bpf.h"

char gpl[] SEC("license") = "GPL";

SEC("raw_tp/test")
int test_histogram(void *ctx)
{
    histogram_count(argument(ctx, 0, u64), argument(ctx, 1, u64), argument(ctx, 2, u64));
    return 0;
}
