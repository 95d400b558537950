/* SPDX-License-Identifier: GPL-2.0-only */
/* What threads ask an allocator for, and what comes of it. */
#ifndef HOG_REQUESTS_BPF_H
#define HOG_REQUESTS_BPF_H

#include "blocks.bpf.h"
#include "kernel.bpf.h"
#include "registers.bpf.h"
#include "who.bpf.h"

static long (*const bpf_get_stackid)(void *ctx, void *map, u64 flags) = (void *)BPF_FUNC_get_stackid;
static long (*const bpf_probe_read_user)(void *to, u32 size,
                                         const void *from) = (void *)BPF_FUNC_probe_read_user;

/* A thread, and the call that it is in. */
struct hog_call {
    u64 heap;
    u64 life; /* 0: nobody asks for it */
    u64 stack;
    u64 size;
    u64 target; /* where the pointer will be written to; KIND_REMAP: bytes that move */
    u64 old_address, freed;
    struct hog_block old; /* what is to be resized; its size is 0: nothing known */
    u64 code;             /* where the innermost of its functions was called */
    u32 depth;            /* calls that have not returned */
    u32 kind;
};

/* By the kernel's number of the thread. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 4096);
    __type(key, u32);
    __type(value, struct hog_call);
} hog_calls SEC(".maps");

#include "tracked.bpf.h"

const volatile bool only_tracked, with_stacks;
const volatile u32 page_bytes = 4096;

/* ---- who ---- */

struct owner {
    u64 who, heap;
};

static __always_inline struct owner owner_by_task(void)
{
    struct task_struct *task = (void *)bpf_get_current_task();
    struct task_struct *leader = kernel_field(false, task, group_leader);
    u64 both = bpf_get_current_pid_tgid();
    u64 birth = kernel_field(false, leader, start_boottime) >> HOG_KEY_BIRTH_NS;

    return (struct owner){who_is(false, task, both).key, make_key(both >> 32, 0, birth)};
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

/* The first call of a thread that we see. */
static __attribute__((noinline)) int meet(u32 thread, u64 who, u64 heap_key)
{
    struct hog_call call = {.heap = heap_key};
    struct hog_heap *heap = bpf_map_lookup_elem(&hog_heaps, &heap_key), first = {.who = who};
    u32 process = process_of(who);
    bool ours = !only_tracked || bpf_map_lookup_elem(&hog_tracked, &process);

    if (!heap && ours) {
        first.life = new_life(heap_key);
        bpf_map_update_elem(&hog_heaps, &heap_key, &first, BPF_NOEXIST);
        heap = bpf_map_lookup_elem(&hog_heaps, &heap_key);
        if (!heap)
            return 0;
    }
    if (ours && heap)
        call.life = heap->life;
    bpf_map_update_elem(&hog_calls, &thread, &call, BPF_NOEXIST);
    return 0;
}

static __always_inline struct hog_call *call_of_thread(bool by_task, bool counts)
{
    u32 thread = bpf_get_current_pid_tgid();
    struct hog_call *call = bpf_map_lookup_elem(&hog_calls, &thread);

    if (!call) {
        struct owner owner = by_task ? owner_by_task() : owner_by_ids();
        meet(thread, owner.who, owner.heap);
        call = bpf_map_lookup_elem(&hog_calls, &thread);
        if (!call && counts)
            add(alloc_words.lost, 1);
    }
    return call && call->life ? call : NULL;
}

static __always_inline bool is_within(const struct hog_call *call, u64 stack)
{
    return call->depth && call->stack >= stack;
}

/* ---- calls ---- */

struct request {
    u32 kind;
    u64 size, old, target;
};

static __always_inline int begin(struct registers *r, bool by_task, struct request ask)
{
    struct hog_call *call = call_of_thread(by_task, true);
    bool is_map = ask.kind == KIND_MAP || ask.kind == KIND_REMAP || ask.kind == KIND_NONE;
    u64 stack = stack_of(r);

    if (!call)
        return 0;
    if (!is_map)
        call->code = code_of(r);
    else if (!call->depth)
        call->code = 0;
    if (is_within(call, stack)) {
        call->depth++;
        return 0;
    }
    call->depth = 1;
    call->stack = stack;
    call->kind = ask.kind;
    call->size = ask.size;
    call->target = ask.target;
    call->freed = 0;
    call->old.size = 0;
    if (ask.old) {
        struct hog_block_key key = {ask.old, call->life};
        struct hog_block old;
        call->old_address = ask.old;
        if (take(&key, &old))
            call->old = old;
    }
    if (ask.kind == KIND_REMAP && !call->old.size)
        call->kind = KIND_NONE; /* a file, or from before hog */
    return 0;
}

/* A product as calloc's: what cannot be is too much. Compilers would see an overflow check, and multiply 128
 * bits. */
static __always_inline u64 product(u64 a, u64 b)
{
    u64 most = b ? ~0ull / b : ~0ull;

    barrier_var(most);
    return a > most ? ~0ull : a * b;
}

/* Address space without access (PROT_NONE) is none that anybody uses yet, and a thread's stack is no heap.
 * Files have memory of their own. */
#define MMAP_STACK     0x20000
#define MMAP_ANONYMOUS 0x20
static __always_inline u32 kind_of_map(u64 protection, u64 flags)
{
    return (u32)protection && (flags & (MMAP_ANONYMOUS | MMAP_STACK)) == MMAP_ANONYMOUS ? KIND_MAP
                                                                                        : KIND_NONE;
}

/* `known`: what was not allocated before our eyes is left to a free that this one hands on to, if it does. */
static __always_inline int on_free(struct registers *r, bool by_task, bool known)
{
    struct hog_call *call;
    u64 address = register_0(r);

    if (!address)
        return 0;
    call = call_of_thread(by_task, false);
    if (!call || is_within(call, stack_of(r)) || call->freed == address)
        return 0;
    struct hog_heap *heap = bpf_map_lookup_elem(&hog_heaps, &call->heap);
    struct hog_block_key key = {address, call->life};
    struct hog_block block;
    if (!heap)
        return 0;
    bool found = take(&key, &block);
    if (found)
        weigh(heap, &block, -1);
    if (known && !found)
        return 0;
    call->freed = address; /* a free that hands on to another one */
    add(heap->frees, 1);
    return 0;
}

/* From the front of a mapping: all of it, or what is left begins behind. */
static __always_inline u64 whole_pages(u64 length)
{
    return (length + page_bytes - 1) & ~(u64)(page_bytes - 1);
}

static __always_inline int on_munmap(struct registers *r, bool by_task)
{
    u64 length = whole_pages(register_1(r));
    struct hog_call *call = call_of_thread(by_task, false);

    if (!call || is_within(call, stack_of(r)))
        return 0;
    struct hog_heap *heap = bpf_map_lookup_elem(&hog_heaps, &call->heap);
    struct hog_block_key key = {register_0(r), call->life};
    struct hog_block block;
    if (!heap || !take(&key, &block))
        return 0;
    weigh(heap, &block, -1);
    if (block.size <= length) {
        add(heap->frees, 1);
        return 0;
    }
    block.size -= length;
    key.address += length;
    return put(heap, &key, &block);
}

static __always_inline bool failed(u32 kind, u64 result)
{
    if (kind == KIND_MAP || kind == KIND_REMAP)
        return result > -4096ull;
    return kind == KIND_MEMALIGN ? (u32)result != 0 : !result;
}

/* The outermost call has returned. */
static __always_inline void finish(struct registers *r, struct hog_call *call, struct hog_heap *heap)
{
    u64 address = result_of(r);
    u32 kind = call->kind;
    struct hog_block_key key = {call->old_address, call->life};
    struct hog_block block = call->old;

    if (failed(kind, address)) {
        bool freed = kind == KIND_RESIZE && !call->size;
        if (call->old.size && freed)
            weigh(heap, &block, -1);
        if (call->old.size && !freed) {
            weigh(heap, &block, -1); /* which put() counts again */
            put(heap, &key, &block);
        }
        add(heap->frees, freed);
        add(heap->failed, !freed && call->size);
        return;
    }
    if (call->old.size) {
        weigh(heap, &block, -1);
        add(heap->frees, 1);
    }
    if (kind == KIND_REMAP) {
        kind = KIND_MAP;
        if (call->target < block.size) { /* the rest stays where it is */
            block.size -= call->target;
            key.address += call->target;
            put(heap, &key, &block);
        }
    }
    if (kind == KIND_MEMALIGN && bpf_probe_read_user(&address, sizeof address, (void *)call->target))
        address = 0;
    if (call->code)
        heap->code = call->code;
    add(heap->allocs, 1);
    add(heap->bytes, call->size);
    if (!address || !call->size)
        return;
    u32 shift = kind == KIND_MAP ? 0 : sampling(call->size);
    if (shift && (bpf_get_prandom_u32() & ((1u << (shift & 15)) - 1)))
        return;
    block = (struct hog_block){.size = call->size, .stack = -1, .shift = shift, .kind = kind};
    block.born = with_stacks ? bpf_ktime_get_ns() : read_once(alloc_words.turned);
    if (with_stacks)
        block.stack = bpf_get_stackid(r, &hog_stacks, 256 /* BPF_F_USER_STACK */);
    key.address = address;
    put(heap, &key, &block);
}

static __always_inline int on_return(struct registers *r)
{
    u32 thread = bpf_get_current_pid_tgid();
    struct hog_call *call = bpf_map_lookup_elem(&hog_calls, &thread);

    if (!call || !call->depth || --call->depth || call->kind == KIND_NONE)
        return 0;
    struct hog_heap *heap = bpf_map_lookup_elem(&hog_heaps, &call->heap);
    if (heap)
        finish(r, call, heap);
    return 0;
}

#endif
