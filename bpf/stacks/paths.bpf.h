/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel stack in which a task sleeps.
 *
 * Unwinding it takes some three microseconds: too much for each switch. But most sleeps have been seen
 * before: the return addresses on the stack, found without unwinding, tell whether it is one of those. On
 * arm64 frame pointers lead from one to the next. On x86-64 the words near the top of the stack are looked
 * at: those that can be addresses of the kernel's code. What a function left there before makes the same
 * stack look new, but never another one look known.
 */
#ifndef HOG_BPF_STACKS_PATHS_H
#define HOG_BPF_STACKS_PATHS_H

#include "kernel/task.bpf.h"
#include "lib/frames.bpf.h"

FRAMES_TABLE(127, 4096);

static long (*const bpf_get_task_stack)(struct task_struct *task, void *to, u32 size,
                                        u64 flags) = (void *)BPF_FUNC_get_task_stack;

/* Room on each CPU, by who uses it: samples and switches interrupt the iterator. */
enum { SCRATCH_KERNEL, SCRATCH_USER, SCRATCH_SWITCH, SCRATCH_ITERATOR, SCRATCHES };

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, SCRATCHES);
    __type(key, u32);
    __type(value, struct hog_frames);
} hog_scratch SEC(".maps");

static __always_inline struct hog_frames *scratch(u32 which)
{
    return bpf_map_lookup_elem(&hog_scratch, &which);
}

/* Stacks seen, in the place that the hash of their addresses leads to. */
struct hog_path {
    u64 check; /* hash ^ id, so that halves of two entries do not pass for one */
    u64 id;    /* of its frames */
};
#define PATHS 4096

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, PATHS);
    __type(key, u32);
    __type(value, struct hog_path);
} hog_paths SEC(".maps");

volatile u32 paths_generation; /* changes when frames were deleted: all paths are new then */

struct thread_struct {
    unsigned long sp; /* x86-64 */
} __relocated;

struct cpu_context {
    unsigned long fp; /* arm64 */
} __relocated;

struct thread_struct___arm64 {
    struct cpu_context cpu_context;
} __relocated;

struct task_struct___thread {
    struct thread_struct thread;
} __relocated;

struct task_struct___arm64 {
    struct thread_struct___arm64 thread;
} __relocated;

/* Where to begin: the top of the stack, or the innermost frame. */
static __always_inline u64 stack_begin(struct task_struct *task)
{
#ifdef __TARGET_ARCH_x86
    return kernel_field(false, (struct task_struct___thread *)task, thread.sp);
#else
    return kernel_field(false, (struct task_struct___arm64 *)task, thread.cpu_context.fp);
#endif
}

/* A global function: verified once. */
__attribute__((noinline)) u64 hog_hash_stack(u64 at, u32 call)
{
    u64 hash = ((u64)paths_generation << 32 | call) + 1;

#ifdef __TARGET_ARCH_x86
    u64 words[40] = {};
    bpf_probe_read_kernel(words, sizeof words, (void *)at);
    for (u32 i = 0; i < 40; i++)
        if (words[i] >> 31 == 0x1ffffffff)
            hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15ull;
#else
    u64 frame[2] = {at, 0};
    for (u32 i = 0; i < 16 && frame[0]; i++) {
        if (bpf_probe_read_kernel(frame, sizeof frame, (void *)frame[0]))
            break;
        hash = (hash ^ frame[1]) * 0x9e3779b97f4a7c15ull;
    }
#endif
    return hash ^ hash >> 31;
}

/* The id of the kernel stack of a task that sleeps. */
static __always_inline u64 path_of(struct task_struct *task, u32 call, u32 which)
{
    u64 hash = hog_hash_stack(stack_begin(task), call);
    u32 place = hash >> 32 & (PATHS - 1);
    struct hog_path *path = bpf_map_lookup_elem(&hog_paths, &place);
    struct hog_frames *frames = scratch(which);

    if (!path || !frames)
        return HOG_FRAMES_LOST;
    u64 id = path->id;
    if (path->check == (hash ^ id))
        return id;
    long bytes = bpf_get_task_stack(task, frames->at, sizeof frames->at, 0);
    if (bytes < (long)sizeof(u64))
        return HOG_FRAMES_NONE;
    frames->n = bytes / sizeof(u64);
    id = frames_keep(frames);
    if (id != HOG_FRAMES_LOST) {
        path->check = hash ^ id;
        path->id = id;
    }
    return id;
}

#endif
