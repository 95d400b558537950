/* SPDX-License-Identifier: GPL-2.0-only */
/* What processes hold: their blocks by address, and the sums of these. */
#ifndef HOG_BPF_HEAP_HEAP_BLOCKS_H
#define HOG_BPF_HEAP_HEAP_BLOCKS_H

#define FRAMES_ID_BITS 48 /* so that a block has 24 bytes */
#include "lib/frames.bpf.h"
#include "lib/log2.bpf.h"
#include "lib/sketch.bpf.h"

typedef __u16 u16;

static u32 (*const bpf_get_prandom_u32)(void) = (void *)BPF_FUNC_get_prandom_u32;

/*
 * A process. Counts are since it was first seen. What it holds now is
 *
 *     bytes - freed + more      in allocs - frees + more_blocks blocks:
 *
 * this way a pair of malloc and free changes only four words. `more` corrects for blocks that were not put
 * into the map, stand for several, or were unknown when they were freed.
 */
struct hog_heap {
    u64 key;  /* by the kernel's own pids, whatever rows use; 0: unused */
    u64 who;  /* its key in rows */
    u64 life; /* identifies its blocks */
    u64 allocs, frees, bytes, freed;
    s64 more, more_blocks;
    s64 mapped;   /* bytes of mmap in what it holds */
    s64 variance; /* of the sampled blocks in it, in 4096 bytes^2 */
    u64 failed;
    u64 code; /* address in the allocator's function that was called last */
    u64 left; /* blocks in the map that belong to an earlier life */
    u32 exited, reserved;
};

enum hog_heap_places { HOG_HEAP_NONE, HOG_HEAPS = 2048 };
const volatile enum hog_heap_places heap_places = HOG_HEAPS; /* keeps the type */

/* Found by a number that threads remember, without hashing. The first one is not used. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, HOG_HEAPS);
    __type(key, u32);
    __type(value, struct hog_heap);
} hog_heaps SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, HOG_HEAPS);
    __type(key, u64);
    __type(value, u32);
} hog_heap_index SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_STACK); /* only a few are ever touched */
    __uint(max_entries, HOG_HEAPS);
    __uint(key_size, 0);
    __uint(value_size, sizeof(u32));
} hog_heap_free SEC(".maps");

enum kind {
    KIND_NONE,     /* does not count */
    KIND_BLOCK,    /* malloc and its like: a pointer, or 0 */
    KIND_RESIZE,   /* the same; with a size of 0 it frees, and 0 is no failure */
    KIND_MEMALIGN, /* the pointer is written to memory */
    KIND_MAP,      /* a pointer, or -errno as from a system call, or MAP_FAILED */
    KIND_REMAP,    /* the same, for blocks of KIND_MAP: no block is of this kind */
};

struct hog_block {
    u64 size;
    u64 born;  /* ns, CLOCK_MONOTONIC; without stacks: of the last flip */
    u32 stack; /* id of its frames: the low bits */
    u8 shift;  /* it stands for 1 << shift blocks of its size */
    u8 kind;
    u16 stack_high;
};

struct hog_block_key {
    u64 address, life;
};

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 1);
    __type(key, struct hog_block_key);
    __type(value, struct hog_block);
} hog_blocks SEC(".maps");

/* As many as user space tells apart by process. */
FRAMES_TABLE(32, 16384);

struct hog_alloc_words {
    s64 used;    /* blocks in the map */
    u64 lost;    /* allocations without room: in a map, or for their process or thread */
    u64 flipped; /* ns, CLOCK_MONOTONIC: the time of new blocks, unless stacks are asked for */
    u64 padding[5];
} __attribute__((aligned(64)));
struct hog_alloc_words alloc_words = {};

/* Blocks are sampled from this number on, one level more per step (a power of two). */
const volatile u64 sample_from = 1, sample_step_shift = 1;

/* ---- blocks ---- */

/* The sampling level for blocks of that size now. Blocks twice as large are kept twice as often: so all
 * blocks contribute equally to the error, and those that make up most of the bytes are all kept. */
static __always_inline u32 sampling(u64 size)
{
    u64 used = read_once(alloc_words.used);

    if ((s64)used < (s64)sample_from)
        return 0;
    u64 level = ((used - sample_from) >> sample_step_shift) + 1;
    u32 larger = log2_of(size >> 6);
    if (level > 15)
        level = 15;
    return level > larger ? level - larger : 0;
}

/* What a block that stands for others adds to the variance of the sum. */
static __always_inline s64 variance_of(u64 size, u32 shift)
{
    u64 copies = 1ull << (shift & 15);

    return shift ? ((size * size >> 12) + 1) * (copies * (copies - 1)) : 0;
}

/* What a block of that kind adds beyond one that stands only for itself; sign: 1 or -1. */
static __always_inline void weigh_beside(struct hog_heap *heap, const struct hog_block *block, s64 sign)
{
    u64 copies = 1ull << (block->shift & 15);

    if (block->kind == KIND_MAP)
        add(heap->mapped, (s64)block->size * sign);
    if (block->shift) {
        add(heap->more, (s64)(block->size * (copies - 1)) * sign);
        add(heap->variance, variance_of(block->size, block->shift) * sign);
    }
}

/* A block enters (1) or leaves (-1) without an allocation or a free. */
static __always_inline void weigh(struct hog_heap *heap, const struct hog_block *block, s64 sign)
{
    add(heap->more, (s64)block->size * sign);
    add(heap->more_blocks, sign);
    weigh_beside(heap, block, sign);
}

/* An allocation; is_kept: `block` is in the map. */
static __always_inline void count_alloc(struct hog_heap *heap, const struct hog_block *block, bool is_kept)
{
    add(heap->allocs, 1);
    add(heap->bytes, block->size);
    if (is_kept) {
        weigh_beside(heap, block, 1);
    } else {
        add(heap->more, -block->size);
        add(heap->more_blocks, -1);
    }
}

/* A free; was_kept: `block` was in the map. */
static __always_inline void count_free(struct hog_heap *heap, const struct hog_block *block, bool was_kept)
{
    add(heap->frees, 1);
    if (was_kept) {
        add(heap->freed, block->size);
        weigh_beside(heap, block, -1);
    } else {
        add(heap->more_blocks, 1);
    }
}

/* Removes a block from the map. */
static __always_inline bool take(struct hog_block_key *key, struct hog_block *block)
{
    struct hog_block *found = bpf_map_lookup_elem(&hog_blocks, key);

    if (!found)
        return false;
    *block = *found;
    if (bpf_map_delete_elem(&hog_blocks, key))
        return false;
    add(alloc_words.used, -1);
    return true;
}

/* False: no room. A block that is still there was freed where no probe is. */
static __always_inline bool put(struct hog_heap *heap, struct hog_block_key *key, struct hog_block *block)
{
    struct hog_block before;
    long err = bpf_map_update_elem(&hog_blocks, key, block, BPF_NOEXIST);
    if (err == -17 /* EEXIST */) {
        if (take(key, &before))
            weigh(heap, &before, -1);
        err = bpf_map_update_elem(&hog_blocks, key, block, BPF_ANY);
    }
    if (err) {
        add(alloc_words.lost, 1);
        return false;
    }
    add(alloc_words.used, 1);
    return true;
}

#endif
