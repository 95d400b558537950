/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sums of threads for any number of readers, and what becomes of them when a thread ends: they go over to a
 * map of their own, whose oldest entries make room for new ones. A reader who comes by before that misses
 * nobody, and `exits` tells him if he has missed one.
 *
 * Who includes this defines struct hog_thread_sums, which ends in a struct hog_thread_name, and struct
 * hog_cpu_sums, which begins with a struct hog_exits.
 */
#ifndef HOG_BPF_LIB_EXITED_THREADS_H
#define HOG_BPF_LIB_EXITED_THREADS_H

#include "lib/threads.bpf.h"

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 16384);
    __type(key, struct hog_thread);
    __type(value, struct hog_thread_sums);
} hog_threads SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 4096);
    __type(key, struct hog_thread);
    __type(value, struct hog_thread_sums);
} hog_exited SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct hog_cpu_sums);
} hog_cpus SEC(".maps");

static __always_inline struct hog_cpu_sums *this_cpu(void)
{
    u32 zero = 0;

    return bpf_map_lookup_elem(&hog_cpus, &zero);
}

/* One that had ended by what it looked like goes on: a thread that calls exec takes over its leader's number
 * and birth. */
static __always_inline struct hog_thread_sums *back_again(struct hog_cpu_sums *c,
                                                          const struct hog_thread *key)
{
    struct hog_thread_sums *exited = bpf_map_lookup_elem(&hog_exited, key);

    if (!exited)
        return NULL;
    bpf_map_update_elem(&hog_threads, key, exited, BPF_NOEXIST);
    bpf_map_delete_elem(&hog_exited, key);
    c->exits.exits--;
    return bpf_map_lookup_elem(&hog_threads, key);
}

/* NULL: there is no room. */
static __always_inline struct hog_thread_sums *sums_of(struct hog_cpu_sums *c, const struct hog_thread *key)
{
    struct hog_thread_sums *sums = bpf_map_lookup_elem(&hog_threads, key);
    struct hog_thread_sums first = {};

    if (!sums)
        sums = back_again(c, key);
    if (sums)
        return sums;
    bpf_map_update_elem(&hog_threads, key, &first, BPF_NOEXIST);
    return bpf_map_lookup_elem(&hog_threads, key);
}

/* The thread ends, or goes on by another number (exec). */
static __always_inline void bury(struct hog_cpu_sums *c, const struct hog_thread *key,
                                 struct hog_thread_sums *sums)
{
    bpf_map_update_elem(&hog_exited, key, sums, BPF_ANY);
    bpf_map_delete_elem(&hog_threads, key);
    c->exits.exits++;
}

#endif
