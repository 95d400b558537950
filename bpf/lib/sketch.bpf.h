/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sketch: the heaviest keys, in constant memory and with constant work per event.
 *
 * After HashPipe (Sivaraman et al., SOSR 2017; eHashPipe brought it into the kernel): a few stages, each a
 * small table with its own hash, so that a key has one possible slot in each. HashPipe always inserts the
 * new key at stage 0 and passes on the evicted one, because a network switch can access each stage only
 * once. That puts one key into several slots, and lets a stream of light keys wash out heavy ones. A CPU may
 * read all slots of a key first:
 *
 *   - the key is in one of them: add to it;
 *   - else, if the lightest of them (empty: 0) is no heavier than the new key, replace that one;
 *   - else drop the new key, and reduce the lightest one by its weight: old weight decays.
 *
 * What was replaced, dropped, or decayed is added up as lost, so that
 *
 *     sum of all slots + lost = sum of all input                                         at any time.
 *
 * No key has two slots in a pipeline, and none ever appears heavier than it is. docs/bench.md compares the
 * rules. One key can be in the pipelines of several CPUs: the reader merges by key.
 *
 * Flows (CPU time, waits, bytes): one pipeline per CPU, no atomics, two banks. A source that wants one has
 *
 *     struct hog_NAME {                         // a value of the map: one per CPU
 *         struct hog_pipe pipe;                 // first
 *         ... its own words, a multiple of 64 bytes in all ...
 *         struct hog_slot slots[PIPE_SLOTS];    // two banks of pipe_stages * slots per stage
 *     };
 *     struct { __uint(type, BPF_MAP_TYPE_ARRAY); __uint(map_flags, BPF_F_MMAPABLE); __uint(max_entries, 1);
 *              __type(key, u32); __type(value, struct hog_NAME); } hog_sketch SEC(".maps");
 *
 *     struct hog_NAME *c = bpf_map_lookup_elem(&hog_sketch, &cpu);
 *     bool first;
 *     u32 flip = pipe_enter(&c->pipe, &first);
 *     pipe_add(&c->pipe, c->slots, flip, key, weight, 1);
 *     pipe_leave(&c->pipe);
 *
 * and user space (src/source/shared/sketch) sets the pipe_* constants, makes the value large enough for two
 * banks of the sizes it wants, and the array as long as there are possible CPUs. (The value of a per-CPU
 * array is limited to 32 KiB.)
 */
#ifndef HOG_BPF_LIB_SKETCH_H
#define HOG_BPF_LIB_SKETCH_H

#include "kernel/helpers.bpf.h"

#define PIPE_MAX_STAGES 8
#define PIPE_SLOTS      (2 * 4 * 64) /* default; user space sets the size of the map's value */

struct hog_slot {
    u64 key; /* 0: empty */
    u64 weight;
    u64 count;
};

/* Head of a CPU's flow pipeline. */
struct hog_pipe {
    u64 seq;  /* odd while a program of this CPU is inside */
    u32 flip; /* as seen by the last event */
    u32 reserved;
    u64 lost_weight[2], lost_count[2]; /* per bank */
};

/* Set by user space before loading: constants to the verifier, which drops the unused stages. */
const volatile u32 pipe_stages = 4;
const volatile u32 pipe_shift = 58; /* 64 - log2(slots per stage) */
const volatile u32 pipe_slots = 64; /* per stage */

/* The same for pipelines of another shape that an object may have in addition. Each use reads the constant
 * anew: older verifiers do not know its value once it was on the stack. */
enum pipe_shape { PIPE_MAIN, PIPE_OTHER };
const volatile u32 other_stages = 4;
const volatile u32 other_shift = 58;
const volatile u32 other_slots = 64; /* per stage */

/* Incremented by user space at each flip of a window; bit 0 is the bank for new events. In a cache line of
 * its own: every CPU reads it at every event. */
struct hog_flip {
    u32 flip;
    u32 shown; /* the last flip whose rows were written, with names */
    u32 padding[14];
} __attribute__((aligned(64)));
struct hog_flip pipe_flip = {};

/* Odd constants with mixed bits: slot = (key * constant) >> pipe_shift. The low bits of a key are a start
 * time, the high ones a PID; the top bits of the product depend on all of them. */
static __always_inline u64 pipe_multiplier(u32 stage)
{
    switch (stage) {
    case 0:
        return 0x9e3779b97f4a7c15ull;
    case 1:
        return 0xc2b2ae3d27d4eb4full;
    case 2:
        return 0xff51afd7ed558ccdull;
    case 3:
        return 0xd6e8feb86659fd93ull;
    case 4:
        return 0xa0761d6478bd642full;
    case 5:
        return 0xe7037ed1a0b428dbull;
    case 6:
        return 0x8ebc6af09c88c6e3ull;
    default:
        return 0xc4ceb9fe1a85ec53ull;
    }
}

/* The index of a key's slot of a stage among all slots of a bank. */
static __always_inline u64 pipe_number(enum pipe_shape shape, u32 stage, u64 key)
{
    u64 hash = key * pipe_multiplier(stage);

    if (shape == PIPE_MAIN)
        return (hash >> pipe_shift) + stage * (u64)pipe_slots;
    return (hash >> other_shift) + stage * (u64)other_slots;
}

static __always_inline u64 pipe_bank_slots(enum pipe_shape shape)
{
    return shape == PIPE_MAIN ? pipe_stages * (u64)pipe_slots : other_stages * (u64)other_slots;
}

static __always_inline void *pipe_place(void *bank, u32 stage, u64 key, u32 size)
{
    return bank + pipe_number(PIPE_MAIN, stage, key) * size;
}

/*
 * Announces to user space that a program is inside; returns the current flip (bit 0 is the bank) and whether
 * this is the CPU's first event in it.
 *
 * The barriers here only bind the compiler: there is no CPU barrier that every kernel accepts in a program.
 * On x86 stores of a CPU become visible in order. Elsewhere they may be reordered, seq too; user space
 * allows for that (see sketch_settle). Two events of a CPU never mix: between them is a context switch, with
 * a full barrier (dsb on arm64).
 */
static __always_inline u32 pipe_enter(struct hog_pipe *p, bool *first)
{
    write_once(p->seq, p->seq + 1);
    u32 flip = read_once(pipe_flip.flip);

    *first = p->flip != flip;
    if (unlikely(*first))
        write_once(p->flip, flip);
    barrier();
    return flip;
}

static __always_inline void pipe_leave(struct hog_pipe *p)
{
    barrier();
    write_once(p->seq, p->seq + 1);
}

/* The bank of a flip. Masked at each use: older verifiers (6.1) lose the bounds of values that the compiler
 * keeps on the stack, and of 32-bit products. */
static __always_inline u32 pipe_bank(u32 flip)
{
    barrier_var(flip);
    return flip & 1;
}

/*
 * Adds weight and count to key (not 0) in the bank of `flip`. Slots have `size` bytes and begin with a
 * struct hog_slot. Returns the key's slot; NULL: it was dropped. In a newly taken slot (its count is
 * `count`) the bytes after that struct are still those of the previous key.
 *
 * Slots are addressed by index, and the lightest is chosen without a branch: if pointers were compared, the
 * verifier would walk the rest of the program once per slot.
 */
static __always_inline void *pipe_slot_in(enum pipe_shape shape, struct hog_pipe *p, void *slots, u32 flip,
                                          u64 key, u64 weight, u64 count, u32 size)
{
    u64 second = pipe_bank(flip);

    barrier_var(second); /* compilers would multiply in 32 bits, for which verifiers (6.1) know no bounds */
    void *bank = slots + second * pipe_bank_slots(shape) * size;
    u64 number = pipe_number(shape, 0, key), lightest = number;
    struct hog_slot *slot = bank + number * size;

    if (slot->key == key)
        goto add;
    u64 least = slot->weight;
#pragma unroll
    for (u32 stage = 1; stage < PIPE_MAX_STAGES; stage++) {
        if (stage >= (shape == PIPE_MAIN ? pipe_stages : other_stages))
            break;
        number = pipe_number(shape, stage, key);
        slot = bank + number * size;
        if (slot->key == key)
            goto add;
        u64 lighter = is_less(slot->weight, least);
        least = choose(lighter, slot->weight, least);
        lightest = choose(lighter, number, lightest);
    }
    barrier_var(lightest);
    if (lightest >= pipe_bank_slots(shape))
        return NULL; /* never, but the verifier cannot see it; 5.10 only for the very register that is
                        compared */
    barrier_var(lightest);
    slot = bank + lightest * size;
    u32 left = pipe_bank(flip);
    if (least > weight) {
        slot->weight = least - weight;
        p->lost_weight[left] += 2 * weight;
        p->lost_count[left] += count;
        return NULL;
    }
    p->lost_weight[left] += least;
    p->lost_count[left] += slot->count;
    slot->key = key;
    slot->weight = weight;
    slot->count = count;
    return slot;
add:
    number = forget(number, key);
    if (number >= pipe_bank_slots(shape))
        return NULL;
    barrier_var(number);
    slot = bank + number * size;
    slot->weight += weight;
    slot->count += count;
    return slot;
}

static __always_inline void *pipe_slot(struct hog_pipe *p, void *slots, u32 flip, u64 key, u64 weight,
                                       u64 count, u32 size)
{
    return pipe_slot_in(PIPE_MAIN, p, slots, flip, key, weight, count, size);
}

static __always_inline void pipe_add(struct hog_pipe *p, struct hog_slot *slots, u32 flip, u64 key,
                                     u64 weight, u64 count)
{
    pipe_slot(p, slots, flip, key, weight, count, sizeof *slots);
}

#endif
