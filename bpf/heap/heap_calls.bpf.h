/* SPDX-License-Identifier: GPL-2.0-only */
/* The calls of threads to an allocator, and their results. */
#ifndef HOG_BPF_HEAP_HEAP_CALLS_H
#define HOG_BPF_HEAP_HEAP_CALLS_H

#include "heap/heap_threads.bpf.h"
#include "lib/registers.bpf.h"

const volatile bool with_stacks;
const volatile u32 page_bytes = 4096;

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
        call->kind = KIND_NONE; /* a file, or mapped before hog started */
    return 0;
}

/* A product as in calloc: on overflow the largest number. Compilers would recognize an overflow check, and
 * multiply in 128 bits. */
static __always_inline u64 product(u64 a, u64 b)
{
    u64 most = b ? ~0ull / b : ~0ull;

    barrier_var(most);
    return a > most ? ~0ull : a * b;
}

/* Address space without access (PROT_NONE) is not in use yet, and a thread's stack is no heap. Mappings of
 * files do not count. */
#define MMAP_STACK     0x20000
#define MMAP_ANONYMOUS 0x20
static __always_inline u32 kind_of_map(u64 protection, u64 flags)
{
    return (u32)protection && (flags & (MMAP_ANONYMOUS | MMAP_STACK)) == MMAP_ANONYMOUS ? KIND_MAP
                                                                                        : KIND_NONE;
}

/* `known`: a block that was allocated before probes were attached is left to a free that this one calls. */
static __always_inline int on_free(struct registers *r, bool by_task, bool known)
{
    struct hog_call *call;
    u64 address = register_0(r);

    if (!address)
        return 0;
    call = call_of_thread(by_task, false);
    if (!call || is_within(call, stack_of(r)) || call->freed == address)
        return 0;
    struct hog_heap *heap = heap_of(call);
    struct hog_block_key key = {address, call->life};
    struct hog_block block;
    if (!heap)
        return 0;
    bool found = take(&key, &block);
    if (known && !found)
        return 0;
    call->freed = address; /* a free that calls another one */
    count_free(heap, &block, found);
    return 0;
}

/* From the front of a mapping: all of it, or the rest begins after it. */
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
    struct hog_heap *heap = heap_of(call);
    struct hog_block_key key = {register_0(r), call->life};
    struct hog_block block;
    if (!heap || !take(&key, &block))
        return 0;
    if (block.size <= length) {
        count_free(heap, &block, true);
        return 0;
    }
    weigh(heap, &block, -1);
    block.size -= length;
    key.address += length;
    if (put(heap, &key, &block))
        weigh(heap, &block, 1);
    return 0;
}

static __always_inline bool failed(u32 kind, u64 result)
{
    if (kind == KIND_MAP || kind == KIND_REMAP)
        return result > -4096ull;
    return kind == KIND_MEMALIGN ? (u32)result != 0 : !result;
}

/* The frames are on the stack: this program can be preempted by others. */
static __always_inline void keep_stack(struct registers *r, struct hog_block *block)
{
    struct hog_frames frames;
    long bytes = bpf_get_stack(r, frames.at, sizeof frames.at, USER_STACK);

    if (bytes < (long)sizeof(u64))
        return;
    frames.n = bytes / sizeof(u64);
    u64 id = frames_keep(&frames);
    if (id == HOG_FRAMES_LOST)
        add(alloc_words.lost, 1);
    block->stack = id;
    block->stack_high = id >> 32;
}

/* The outermost call has returned. */
static __always_inline void finish(struct registers *r, struct hog_call *call, struct hog_heap *heap)
{
    u64 address = result_of(r);
    u32 kind = call->kind;
    struct hog_block_key key = {call->old_address, call->life};
    struct hog_block block = call->old;
    bool had = block.size != 0;

    if (failed(kind, address)) {
        if (kind == KIND_RESIZE && !call->size) { /* it was a free */
            count_free(heap, &block, had);
            return;
        }
        if (had && !put(heap, &key, &block))
            weigh(heap, &block, -1);
        add(heap->failed, call->size != 0);
        return;
    }
    if (had)
        count_free(heap, &block, true);
    if (kind == KIND_REMAP) {
        kind = KIND_MAP;
        if (call->target < block.size) { /* the rest stays in place */
            block.size -= call->target;
            key.address += call->target;
            if (put(heap, &key, &block))
                weigh(heap, &block, 1);
        }
    }
    if (kind == KIND_MEMALIGN && bpf_probe_read_user(&address, sizeof address, (void *)call->target))
        address = 0;
    if (call->code)
        heap->code = call->code;
    u32 shift = kind == KIND_MAP ? 0 : sampling(call->size);
    bool is_kept = address && call->size && !(shift && (bpf_get_prandom_u32() & ((1u << (shift & 15)) - 1)));
    block = (struct hog_block){.size = call->size, .shift = shift, .kind = kind};
    if (is_kept) {
        block.born = with_stacks ? bpf_ktime_get_ns() : read_once(alloc_words.flipped);
        if (with_stacks)
            keep_stack(r, &block);
        key.address = address;
        is_kept = put(heap, &key, &block);
    }
    count_alloc(heap, &block, is_kept);
}

static __always_inline int on_return(struct registers *r)
{
    struct hog_call *call = find_call(bpf_get_current_pid_tgid());

    if (!call || !call->depth || --call->depth || call->kind == KIND_NONE)
        return 0;
    struct hog_heap *heap = heap_of(call);
    if (heap)
        finish(r, call, heap);
    return 0;
}

#endif
