/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sums per thread for any number of readers. When a thread exits, its sums move to a map of their own, in
 * which new entries replace the oldest. A reader that comes by before that misses no thread; `exits` lets it
 * detect that it has missed one.
 */
#ifndef HOG_BPF_LIB_EXITED_THREADS_H
#define HOG_BPF_LIB_EXITED_THREADS_H

#include "lib/threads.bpf.h"

/*
 * The maps hog_threads, hog_exited and hog_cpus, for a struct thread_sums, which ends in a struct
 * hog_thread_name, and a struct cpu_sums, which begins with a struct hog_exits; and the functions on them:
 *
 * this_cpu()   the sums of this CPU
 * revive() revives a thread that seemed to have exited: one that calls exec takes over the pid and the
 *              start time of its leader
 * sums_of()    the sums of a thread, created if need be; NULL: no room
 * bury()       the thread exits, or goes on with another pid (exec)
 */
#define EXITED_THREADS(thread_sums, cpu_sums)                                                                \
    struct {                                                                                                 \
        __uint(type, BPF_MAP_TYPE_HASH);                                                                     \
        __uint(max_entries, 16384);                                                                          \
        __type(key, struct hog_thread);                                                                      \
        __type(value, thread_sums);                                                                          \
    } hog_threads SEC(".maps");                                                                              \
    struct {                                                                                                 \
        __uint(type, BPF_MAP_TYPE_LRU_HASH);                                                                 \
        __uint(max_entries, 4096);                                                                           \
        __type(key, struct hog_thread);                                                                      \
        __type(value, thread_sums);                                                                          \
    } hog_exited SEC(".maps");                                                                               \
    struct {                                                                                                 \
        __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);                                                             \
        __uint(max_entries, 1);                                                                              \
        __type(key, u32);                                                                                    \
        __type(value, cpu_sums);                                                                             \
    } hog_cpus SEC(".maps");                                                                                 \
    static __always_inline cpu_sums *this_cpu(void)                                                          \
    {                                                                                                        \
        u32 zero = 0;                                                                                        \
        return bpf_map_lookup_elem(&hog_cpus, &zero);                                                        \
    }                                                                                                        \
    static __always_inline thread_sums *revive(cpu_sums *c, const struct hog_thread *key)                    \
    {                                                                                                        \
        thread_sums *exited = bpf_map_lookup_elem(&hog_exited, key);                                         \
        if (!exited)                                                                                         \
            return NULL;                                                                                     \
        bpf_map_update_elem(&hog_threads, key, exited, BPF_NOEXIST);                                         \
        bpf_map_delete_elem(&hog_exited, key);                                                               \
        c->exits.exits--;                                                                                    \
        return bpf_map_lookup_elem(&hog_threads, key);                                                       \
    }                                                                                                        \
    static __always_inline thread_sums *sums_of(cpu_sums *c, const struct hog_thread *key)                   \
    {                                                                                                        \
        thread_sums *sums = bpf_map_lookup_elem(&hog_threads, key);                                          \
        thread_sums first = {};                                                                              \
        if (!sums)                                                                                           \
            sums = revive(c, key);                                                                           \
        if (sums)                                                                                            \
            return sums;                                                                                     \
        bpf_map_update_elem(&hog_threads, key, &first, BPF_NOEXIST);                                         \
        return bpf_map_lookup_elem(&hog_threads, key);                                                       \
    }                                                                                                        \
    static __always_inline void move_to_exited(cpu_sums *c, const struct hog_thread *key, thread_sums *sums) \
    {                                                                                                        \
        bpf_map_update_elem(&hog_exited, key, sums, BPF_ANY);                                                \
        bpf_map_delete_elem(&hog_threads, key);                                                              \
        c->exits.exits++;                                                                                    \
    }

#endif
