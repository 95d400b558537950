/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The reader's side of a flow sketch (bpf/lib/sketch.bpf.h): its shape, the turn of its banks, and what is in
 * the bank that was just left. All through shared memory: no system call a window.
 *
 *   sketch_configure (before relocation) -> sketch_open (after map creation)
 *   -> each window: sketch_flip, sketch_wait, then sketch_drain and sketch_lost a CPU
 */
#ifndef HOG_SOURCE_SHARED_SKETCH_H
#define HOG_SOURCE_SHARED_SKETCH_H

#include <stddef.h>
#include <stdint.h>
#include "loader/object.h"

#define SKETCH_MAP "hog_sketch"

struct hog_turn; /* bpf/lib/sketch.bpf.h */
struct hog_slot;

struct sketch_shape {
    unsigned stages;   /* 1..8 */
    unsigned slots;    /* a stage, CPU and bank; a power of two, 8..1024 */
    size_t head_bytes; /* size of the struct in front of the slots */
    size_t slot_bytes; /* a slot: a struct hog_slot, and what a view keeps behind it */
    int cpus;          /* possible ones */
};

struct sketch {
    struct sketch_shape shape;
    unsigned char *memory; /* the map's value of CPU 0 */
    size_t stride;         /* bytes from a CPU's value to the next one's */
    volatile struct hog_turn *words;
};

/* Bytes of the map for all CPUs. */
size_t sketch_bytes(const struct sketch_shape *shape);

/* Tells the programs the shape and sizes the map. -EINVAL: the object has no such sketch; -E2BIG: more than
 * the map may hold. */
int sketch_configure(struct object *obj, const struct sketch_shape *shape, struct error *why);

/* -ENOTSUP: this kernel cannot map arrays (before 5.5). */
int sketch_open(struct sketch *s, const struct object *obj, const struct sketch_shape *shape,
                struct error *why);

void *sketch_head(const struct sketch *s, int cpu);

/* The turn that events go to now; bit 0 is the bank. */
uint32_t sketch_now(const struct sketch *s);

/* From now on events go to the other bank, which must be empty. */
void sketch_flip(struct sketch *s);

/* Waits until no program is left in the bank that was left at the turn; at least SKETCH_GRACE_NS must have
 * gone by since. -ETIMEDOUT after a second. */
#define SKETCH_GRACE_NS 20000
int sketch_wait(const struct sketch *s, struct error *why);

/* Where a CPU's stores can be seen in another order than it made them (all but x86), a sequence count alone
 * proves nothing, and BPF has no store barrier that every kernel takes. Time serves instead: no store stays
 * in a CPU's buffer for SKETCH_GRACE_NS. sketch_settle() spends it (none on x86): what was seen in part
 * before is seen whole after. So what two looks see alike, with that between them, is whole. */
#ifdef __x86_64__
#define STORES_OVERTAKE false
#else
#define STORES_OVERTAKE true
#endif
void sketch_settle(void);

/* Says that the reader is done with the turn before: what its events left beside the slots may go. */
void sketch_shown(struct sketch *s);

/* Hands each slot of the left bank of one CPU to fn and empties it. */
typedef void (*sketch_fn)(void *context, const struct hog_slot *slot);
void sketch_drain(const struct sketch *s, int cpu, sketch_fn fn, void *context);

/* Adds what the left bank of one CPU had to drop to *weight and *count, and forgets it. */
void sketch_lost(const struct sketch *s, int cpu, uint64_t *weight, uint64_t *count);

#endif
