/* SPDX-License-Identifier: GPL-2.0-only */
/* Callers of an allocator: threads, by the place that their number leads to, and the heaps of their
 * processes. */
#ifndef HOG_BPF_HEAP_HEAP_THREADS_H
#define HOG_BPF_HEAP_HEAP_THREADS_H

#include "heap/heap_blocks.bpf.h"
#include "lib/prefilter.bpf.h"
#include "lib/exact_maps.bpf.h"
#include "kernel/task.bpf.h"
#include "lib/task_key.bpf.h"

static long (*const bpf_map_push_elem)(void *map, const void *value,
                                       u64 flags) = (void *)BPF_FUNC_map_push_elem;
static long (*const bpf_map_pop_elem)(void *map, void *value) = (void *)BPF_FUNC_map_pop_elem;

/* A thread, and its current call. */
struct hog_call {
    u32 thread; /* the kernel's thread id; 0: unused */
    u32 place;  /* of the heap */
    u64 heap;   /* its key */
    u64 life;   /* 0: not asked for */
    u64 stack;
    u64 size;
    u64 target; /* where the pointer will be written; KIND_REMAP: bytes that move */
    u64 old_address, freed;
    struct hog_block old; /* the block to be resized; size 0: unknown */
    u64 code;             /* the address at which the innermost function was called */
    u32 depth;            /* nested calls that have not returned */
    u32 kind;
};

/* A thread's place is given by the low bits of its id. A hash map decides which of several threads takes a
 * place at the same moment, as 5.10 has no atomics that could; it is not read again until the thread exits. A
 * thread whose place is taken has its entry in the map below. */
#define PLACES 4096
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, PLACES);
    __type(key, u32);
    __type(value, struct hog_call);
} hog_calls SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, PLACES);
    __type(key, u32);
    __type(value, u32);
} hog_call_taken SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 2048);
    __type(key, u32);
    __type(value, struct hog_call);
} hog_call_others SEC(".maps");

TRACKED_MAP;

const volatile bool only_tracked;

/* ---- caller ---- */

struct owner {
    u64 who, heap;
};

static __always_inline struct owner owner_by_task(void)
{
    struct task_struct *task = (void *)bpf_get_current_task();
    struct task_struct *leader = kernel_field(false, task, group_leader);
    u64 both = bpf_get_current_pid_tgid();
    u64 birth = kernel_field(false, leader, start_boottime) >> HOG_KEY_BIRTH_NS;

    return (struct owner){task_key(false, task, both).key, make_key(both >> 32, 0, birth)};
}

static __always_inline struct owner owner_by_ids(void)
{
    u64 key = current_key();

    return (struct owner){key, key};
}

static __always_inline u64 new_life(u64 heap)
{
    return (heap * pipe_multiplier(0) ^ bpf_ktime_get_ns()) | 1;
}

/* ---- heaps ---- */

/* The place of the process's heap; HOG_HEAP_NONE: it has none. */
static __always_inline u32 heap_place(u64 key)
{
    u32 *place = bpf_map_lookup_elem(&hog_heap_index, &key);

    return place ? *place : HOG_HEAP_NONE;
}

static __always_inline struct hog_heap *heap_at(u32 place, u64 key)
{
    struct hog_heap *heap = bpf_map_lookup_elem(&hog_heaps, &place);

    return heap && heap->key == key ? heap : NULL;
}

static __always_inline struct hog_heap *heap_of(const struct hog_call *call)
{
    return heap_at(call->place, call->heap);
}

static __always_inline struct hog_heap *heap_by_key(u64 key)
{
    return heap_at(heap_place(key), key);
}

/* A heap for a process that has none. User space has cleared the free ones. */
static __always_inline u32 take_heap(u64 key, u64 who)
{
    u32 place = HOG_HEAP_NONE;

    if (bpf_map_pop_elem(&hog_heap_free, &place))
        return HOG_HEAP_NONE;
    struct hog_heap *heap = bpf_map_lookup_elem(&hog_heaps, &place);
    if (!heap)
        return HOG_HEAP_NONE;
    heap->key = key;
    heap->who = who;
    heap->life = new_life(key);
    if (!bpf_map_update_elem(&hog_heap_index, &key, &place, BPF_NOEXIST))
        return place;
    /* Another thread was first, or there is no room. */
    heap->key = 0;
    bpf_map_push_elem(&hog_heap_free, &place, BPF_ANY);
    return heap_place(key);
}

/* ---- threads ---- */

static __always_inline struct hog_call *call_at(u32 thread)
{
    u32 place = thread % PLACES;

    return bpf_map_lookup_elem(&hog_calls, &place);
}

static __always_inline struct hog_call *find_call(u32 thread)
{
    struct hog_call *call = call_at(thread);

    return call && call->thread == thread ? call : bpf_map_lookup_elem(&hog_call_others, &thread);
}

/* The thread exits, or continues with another id (exec). */
static __always_inline void forget_call(u32 thread)
{
    struct hog_call *call = call_at(thread);
    u32 place = thread % PLACES;

    if (call && call->thread == thread) {
        write_once(call->thread, 0);
        bpf_map_delete_elem(&hog_call_taken, &place);
    } else {
        bpf_map_delete_elem(&hog_call_others, &thread);
    }
}

/* The first call of a thread that is seen. A global function: verified once. */
__attribute__((noinline)) int hog_meet(u32 thread, u64 who, u64 heap_key, u32 asked_for)
{
    struct hog_call call = {.thread = thread, .heap = heap_key};
    u32 process = process_of(who), place = thread % PLACES;

    if (asked_for && (!only_tracked || bpf_map_lookup_elem(&hog_tracked, &process))) {
        call.place = heap_place(heap_key);
        if (call.place == HOG_HEAP_NONE)
            call.place = take_heap(heap_key, who);
        struct hog_heap *heap = heap_at(call.place, heap_key);
        if (!heap)
            return 0;
        call.life = heap->life;
    }
    struct hog_call *at = call_at(thread);
    if (at && !bpf_map_update_elem(&hog_call_taken, &place, &thread, BPF_NOEXIST))
        *at = call;
    else
        bpf_map_update_elem(&hog_call_others, &thread, &call, BPF_NOEXIST);
    return 0;
}

static __always_inline struct hog_call *call_of_thread(bool by_task, bool counts)
{
    u32 thread = bpf_get_current_pid_tgid();
    struct hog_call *call = find_call(thread);

    if (!call) {
        struct owner owner = by_task ? owner_by_task() : owner_by_ids();
        hog_meet(thread, owner.who, owner.heap, !by_task || !is_excluded_for_life());
        call = find_call(thread);
        if (!call && counts)
            add(alloc_words.lost, 1);
    }
    return call && call->life ? call : NULL;
}

#endif
