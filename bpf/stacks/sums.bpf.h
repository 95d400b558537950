/* SPDX-License-Identifier: GPL-2.0-only */
/* What stacks are summed up by, and the tables that user space reads. */
#ifndef HOG_BPF_STACKS_SUMS_H
#define HOG_BPF_STACKS_SUMS_H

#include "kernel/task.bpf.h"
#include "stacks/paths.bpf.h"

/* hog_stack_key.call, in addition to the numbers of system calls. */
enum hog_stack_call {
    HOG_STACK_FAULT = 0xfffe, /* asleep, but in no system call */
    HOG_STACK_ON_CPU = 0xffff,
};
const volatile enum hog_stack_call call_words = HOG_STACK_FAULT;

struct hog_stack_key {
    u64 task;
    u64 kernel, user; /* ids of frames */
    u64 image;        /* of the user stack: the process as of its last exec; 0: none */
    u32 call;         /* system call in which it sleeps, or enum hog_stack_call */
    u32 on;           /* enum hog_sleeps_on */
};

struct hog_stack_sum {
    u64 count, ns;
};

#define SUMS 8192
struct sums_map {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, SUMS);
    __type(key, struct hog_stack_key);
    __type(value, struct hog_stack_sum);
};
struct sums_map hog_sums_0 SEC(".maps"), hog_sums_1 SEC(".maps");

/* Shared with user space. */
struct hog_stack_times {
    u64 before, begin; /* of the window before this one, of this one: CLOCK_MONOTONIC, ns */
};
struct hog_stack_times stacks_times[2]; /* by the bank */
volatile u32 stacks_flip;               /* of which bit 0 is the bank */
volatile u32 stacks_settled;            /* the flip whose sleepers have been read */
struct hog_stack_lost {
    u64 sums, frames, late;
} stacks_lost;

static __always_inline void sum_add(u32 bank, const struct hog_stack_key *key, u64 ns)
{
    struct hog_stack_sum first = {1, ns};
    struct hog_stack_sum *sum =
        bank ? bpf_map_lookup_elem(&hog_sums_1, key) : bpf_map_lookup_elem(&hog_sums_0, key);

    if (key->kernel == HOG_FRAMES_LOST || key->user == HOG_FRAMES_LOST)
        __sync_fetch_and_add(&stacks_lost.frames, 1);
    if (!sum) {
        long err = bank ? bpf_map_update_elem(&hog_sums_1, key, &first, BPF_NOEXIST)
                        : bpf_map_update_elem(&hog_sums_0, key, &first, BPF_NOEXIST);
        if (!err)
            return;
        sum = bank ? bpf_map_lookup_elem(&hog_sums_1, key) : bpf_map_lookup_elem(&hog_sums_0, key);
    }
    if (!sum) {
        __sync_fetch_and_add(&stacks_lost.sums, 1);
        return;
    }
    __sync_fetch_and_add(&sum->count, 1);
    __sync_fetch_and_add(&sum->ns, ns);
}

/* ---- tasks asleep ---- */

#define ASLEEP 16384
struct hog_asleep {
    u64 task; /* of two tasks that share a place, the later; 0: it is awake */
    u64 at;   /* CLOCK_MONOTONIC, ns */
    u64 user; /* id of its frames in user space */
    u64 on;   /* enum hog_sleeps_on */
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, ASLEEP);
    __type(key, u32);
    __type(value, struct hog_asleep);
} hog_asleep SEC(".maps");

/* Those that woke between a flip and the end of the iterator's pass: the part of the sleep before the flip.
 */
struct hog_late {
    struct hog_stack_key key;
    u64 ns;
};

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 2048);
    __type(key, u64); /* the task */
    __type(value, struct hog_late);
} hog_late SEC(".maps");

static __always_inline void note_late(struct task_struct *task, const struct hog_stack_key *key, u64 ns)
{
    u64 id = (u64)task;
    struct hog_late late = {.key = *key, .ns = ns};

    if (bpf_map_update_elem(&hog_late, &id, &late, BPF_ANY))
        __sync_fetch_and_add(&stacks_lost.late, 1);
}

/* What the iterator writes. */
struct hog_sleeper {
    struct hog_stack_key key;
    u64 task, at; /* as in hog_asleep */
    u64 until;    /* CLOCK_MONOTONIC, ns */
};
struct hog_sleeper *unused_sleeper;

/* ---- processes with stacks of user space ---- */

struct hog_image {
    u64 image, key;
    u32 uid, padding;
    char comm[COMM];
};
struct hog_image *unused_image;

/* An image is announced again when more is mapped executable: it may have been seen in the middle of its
 * exec, or before its libraries were there. */
struct hog_announced {
    u64 pages; /* mapped executable */
};

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 4096);
    __type(key, u64);
    __type(value, struct hog_announced);
} hog_images SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, 65536);
} hog_news SEC(".maps");

static long (*const bpf_ringbuf_output)(void *ring, void *data, u64 size,
                                        u64 flags) = (void *)BPF_FUNC_ringbuf_output;

/* An exec makes a new address space, and the one before is gone by then. 0: a kernel thread. The address is
 * read as a number: verifiers refuse to calculate with pointers. */
static __always_inline u64 image_of(struct task_struct *task)
{
    u64 mm = (u64)kernel_field(false, task, mm);

    return mm ? (mm ^ (u64)kernel_field(false, task, tgid) << 48) | 1 : 0;
}

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, SCRATCHES);
    __type(key, u32);
    __type(value, struct hog_stack_key);
} hog_key_scratch SEC(".maps");

static __always_inline struct hog_stack_key *key_scratch(u32 which)
{
    return bpf_map_lookup_elem(&hog_key_scratch, &which);
}

#endif
