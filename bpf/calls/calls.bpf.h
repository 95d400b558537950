/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls of the system or of functions: counts, errors, bytes and time by caller and callee. */
#ifndef HOG_BPF_CALLS_CALLS_H
#define HOG_BPF_CALLS_CALLS_H

#include "lib/prefilter.bpf.h"
#include "lib/exit_names.bpf.h"
#include "lib/sketch.bpf.h"
#include "lib/exact_maps.bpf.h"
#include "kernel/task.bpf.h"
#include "lib/histogram_by_key.bpf.h"
#include "lib/threads.bpf.h"
#include "lib/task_key.bpf.h"

EXIT_NAMES_SKETCH(hog_calls_cpu);

TRACKED_MAP;

const volatile bool only_tracked;

enum hog_calls_kind {
    HOG_CALLS_FUNCTION, /* by its number in hog_functions */
    HOG_CALLS_SYSTEM,   /* by its number in <asm/unistd.h> */
    HOG_CALLS_COMPAT,   /* the same from a 32-bit program: ia32, arm */
    HOG_CALLS_X32,
};
const volatile enum hog_calls_kind calls_kind = HOG_CALLS_SYSTEM; /* keeps the type */

struct hog_calls_key {
    u64 who; /* hog_key_layout */
    u32 call;
    u32 kind; /* enum hog_calls_kind */
};

/* Since the first call was seen: readers subtract earlier values. */
struct hog_calls_sums {
    u64 returned;
    u64 failed;  /* of those that returned */
    u64 left;    /* will never return: the thread exited, or left by longjmp */
    u64 unsized; /* returned without failure, but the number of bytes is unknown */
    u64 bytes;
    u64 ns;              /* in those that returned */
    u64 returned_before; /* the flip */
    u32 flip;
    u32 reserved;
};

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 8192);
    __type(key, struct hog_calls_key);
    __type(value, struct hog_calls_sums);
} hog_calls_sums SEC(".maps");

/* For pinned counts (docs/pinned.md) nothing flips banks and nothing frees the entries of exited processes:
 * the least recently used ones are evicted. Keys are plain, and each value holds the name of its process and
 * how long its calls took. */
const volatile bool pinned;

struct hog_call {
    u32 process, thread, birth; /* as in task_key.bpf.h */
    u32 call;
    u32 kind; /* enum hog_calls_kind */
};

struct hog_call_sums {
    struct hog_calls_sums sums;
    struct hog_thread_name name;
    u64 named; /* when the name was read, ns, CLOCK_MONOTONIC */
};

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 6144);
    __type(key, struct hog_call);
    __type(value, struct hog_call_sums);
} hog_calls SEC(".maps");

/* How long they took: for fewer entries, as it is large. */
struct hog_call_times {
    u32 counts[HOG_HISTOGRAM_BUCKETS];
};

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 2048);
    __type(key, struct hog_call);
    __type(value, struct hog_call_times);
} hog_call_times SEC(".maps");

/* Initial value of an entry: too large for the stack of a program. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct hog_call_times);
} hog_times_none SEC(".maps");

struct hog_calls_words {
    u64 lost; /* calls without room: for their thread, among its frames, or for their sums */
    u64 keys; /* calls made by entries of hog_calls */
    u64 padding[6];
} __attribute__((aligned(64)));
struct hog_calls_words calls_words = {};

/* The key of histograms; src/source/calls/calls.c has the same. */
static __always_inline u64 calls_id(const struct hog_calls_key *key)
{
    u64 call = (u64)key->kind << 32 | key->call;

    return (key->who * 0x9e3779b97f4a7c15ull ^ (call + 1) * 0xc2b2ae3d27d4eb4full) | 1;
}

static __attribute__((noinline)) struct hog_calls_sums *new_sums(const struct hog_calls_key *key)
{
    struct hog_calls_sums none = {};

    bpf_map_update_elem(&hog_calls_sums, key, &none, BPF_NOEXIST);
    return bpf_map_lookup_elem(&hog_calls_sums, key);
}

static __always_inline struct hog_call call_of(const struct hog_calls_key *key)
{
    return (struct hog_call){
        .process = process_of(key->who),
        .thread = (key->who >> HOG_KEY_THREAD) & ((1u << (HOG_KEY_PROCESS - HOG_KEY_THREAD)) - 1),
        .birth = key->who & BIRTH_MASK,
        .call = key->call,
        .kind = key->kind,
    };
}

static __attribute__((noinline)) struct hog_call_sums *pinned_sums(const struct hog_calls_key *key)
{
    struct hog_call call = call_of(key);
    struct hog_call_sums *sums = bpf_map_lookup_elem(&hog_calls, &call), none = {};

    if (sums)
        return sums;
    if (!bpf_map_update_elem(&hog_calls, &call, &none, BPF_NOEXIST))
        add(calls_words.keys, 1);
    return bpf_map_lookup_elem(&hog_calls, &call);
}

static __attribute__((noinline)) int count_time(const struct hog_calls_key *key, u64 ns)
{
    struct hog_call call = call_of(key);
    struct hog_call_times *times = bpf_map_lookup_elem(&hog_call_times, &call), *none;
    u32 bucket = histogram_bucket(ns), first = 0;

    if (!times) {
        none = bpf_map_lookup_elem(&hog_times_none, &first);
        if (!none)
            return 0;
        bpf_map_update_elem(&hog_call_times, &call, none, BPF_NOEXIST);
        times = bpf_map_lookup_elem(&hog_call_times, &call);
    }
    if (times && bucket < HOG_HISTOGRAM_BUCKETS)
        add(times->counts[bucket], 1);
    return 0;
}

static __always_inline struct hog_calls_sums *sums_of(const struct hog_calls_key *key)
{
    struct hog_calls_sums *sums =
        pinned ? (void *)pinned_sums(key) : bpf_map_lookup_elem(&hog_calls_sums, key);

    if (sums)
        return sums;
    if (!pinned)
        sums = new_sums(key);
    if (!sums)
        add(calls_words.lost, 1);
    return sums;
}

/* How a call ended. */
struct outcome {
    u64 ns, bytes;
    u64 at, named; /* when it ended, and when the thread got its current name */
    bool failed, unsized;
};

/* Names change, by exec and otherwise: a name that was read after the thread's exec is at most this old. */
#define NAME_NS 1000000000

static __attribute__((noinline)) int name_pinned(struct hog_call_sums *sums, u64 now)
{
    struct task_struct *task = (void *)bpf_get_current_task();
    struct task_struct *leader = kernel_field(false, task, group_leader);

    sums->named = now;
    thread_name(false, &sums->name, keys.by_thread ? task : leader, leader,
                kernel_field(false, task, real_cred));
    return 0;
}

static __always_inline void count_return(const struct hog_calls_key *key, struct outcome end, bool by_task)
{
    struct hog_calls_sums *sums = sums_of(key);
    u32 flip = read_once(pipe_flip.flip);

    if (!sums)
        return;
    if (!pinned && sums->flip != flip) {
        sums->flip = flip;
        sums->returned_before = sums->returned;
    }
    add(sums->returned, 1);
    add(sums->ns, end.ns);
    if (end.failed)
        add(sums->failed, 1);
    else if (end.unsized)
        add(sums->unsized, 1);
    else if (end.bytes)
        add(sums->bytes, end.bytes);
    if (pinned) {
        /* Without type data nothing is pinned, and programs must not seem to read any. */
        struct hog_call_sums *kept = (void *)sums;
        if (by_task && (kept->named < end.named || end.at - kept->named > NAME_NS))
            name_pinned(kept, end.at);
        count_time(key, end.ns);
        return;
    }
    /* Histograms go to the processes with most calls, which are shown first. Doubled, so that a single call
     * gets one, too. */
    histogram_count_weighed(calls_id(key), end.ns, 2 * (sums->returned - sums->returned_before), 2, 1);
}

static __attribute__((noinline)) int count_left(u64 who, u32 call, u32 kind)
{
    struct hog_calls_key key = {who, call, kind};
    struct hog_calls_sums *sums = sums_of(&key);

    if (sums)
        add(sums->left, 1);
    return 0;
}

/* ---- who ---- */

/* 0: not asked for. Atomic operations that fetch are too new. */
static __always_inline u64 who_calls(bool by_task)
{
    struct task_struct *task = (void *)bpf_get_current_task();
    u64 who = by_task ? task_key(false, task, bpf_get_current_pid_tgid()).key : current_key();
    u32 process = process_of(who);

    return !only_tracked || bpf_map_lookup_elem(&hog_tracked, &process) ? who : 0;
}

static __always_inline void name_dead(bool direct, struct task_struct *task, u64 heavy)
{
    u32 cpu = bpf_get_smp_processor_id();
    struct hog_calls_cpu *c = bpf_map_lookup_elem(&hog_sketch, &cpu);
    struct exit_name exit_name;

    if (c && exit_ends_key(direct, kernel_field(direct, task, signal)) &&
        exit_name_describe(direct, task, &exit_name))
        exit_name_keep(c->exit_names, &exit_name, heavy);
}

#endif
