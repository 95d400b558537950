/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The reader of a flow sketch (bpf/lib/sketch.bpf.h): its shape, the flip of its banks, and the contents of
 * the bank that was just left. All through shared memory, without system calls. sketch_configure (before
 * relocation) -> sketch_open (after map creation)
 *   -> each window: sketch_flip, sketch_wait, then sketch_drain and sketch_lost a CPU
 */
#ifndef HOG_SOURCE_SHARED_SKETCH_H
#define HOG_SOURCE_SHARED_SKETCH_H

#include <stddef.h>
#include <stdint.h>
#include "loader/kernel/object.h"

#define SKETCH_MAP "hog_sketch"

struct hog_flip; /* bpf/lib/sketch.bpf.h */
struct hog_slot;

struct sketch_shape {
    unsigned stages;   /* 1..8 */
    unsigned slots;    /* a stage, CPU and bank; a power of two, 8..1024 */
    size_t head_bytes; /* size of the struct in front of the slots */
    size_t slot_bytes; /* struct hog_slot and the source's own fields after it */
    int cpus;          /* possible ones */
};

struct sketch {
    struct sketch_shape shape;
    unsigned char *memory; /* the map's value of CPU 0 */
    size_t stride;         /* bytes from a CPU's value to the next one's */
    volatile struct hog_flip *words;
};

/* Bytes of the map for all CPUs. */
size_t sketch_bytes(const struct sketch_shape *shape);

/* Sets the shape in the object and sizes the map. -EINVAL: the object has no such sketch; -E2BIG: larger than
 * a map may be. */
int sketch_configure(struct object *obj, const struct sketch_shape *shape, struct error *why);

/* -ENOTSUP: this kernel cannot map arrays (before 5.5). */
int sketch_open(struct sketch *s, const struct object *obj, const struct sketch_shape *shape,
                struct error *why);

void *sketch_head(const struct sketch *s, int cpu);

/* Number of flips so far; bit 0 is the bank that events go to. */
uint32_t sketch_now(const struct sketch *s);

/* Events go to the other bank from now on; it must be empty. */
void sketch_flip(struct sketch *s);

/* Waits until no program uses the old bank; at least SKETCH_GRACE_NS must have passed since the flip.
 * -ETIMEDOUT after a second. */
#define SKETCH_GRACE_NS 20000
int sketch_wait(const struct sketch *s, struct error *why);

/* Where stores may become visible out of order (all but x86), a sequence count is not enough, and BPF has no
 * store barrier that every kernel accepts. Instead, sketch_settle() waits SKETCH_GRACE_NS, longer than any
 * store stays in a store buffer (no wait on x86): two reads that agree, with it between them, are consistent.
 */
#ifdef __x86_64__
#define STORES_OVERTAKE false
#else
#define STORES_OVERTAKE true
#endif
void sketch_settle(void);

/* Tells the programs that the reader is done with the old bank: data outside the slots may be overwritten. */
void sketch_shown(struct sketch *s);

/* Calls fn for each slot of one CPU's old bank and empties it. */
typedef void (*sketch_fn)(void *context, const struct hog_slot *slot);
void sketch_drain(const struct sketch *s, int cpu, sketch_fn fn, void *context);

/* Adds what one CPU's old bank dropped to *weight and *count, and resets that. */
void sketch_lost(const struct sketch *s, int cpu, uint64_t *weight, uint64_t *count);

#endif
