/* SPDX-License-Identifier: GPL-2.0-only */
/* Time that threads slept for I/O in a window: from the sums of bpf/block/waits.bpf.h, which only grow. */
#ifndef HOG_SOURCE_BLOCK_WAITS_H
#define HOG_SOURCE_BLOCK_WAITS_H

#include "loader/kernel/object.h"
#include "base/hash_table.h"

struct hog_io_sleeps;

struct waiter {
    uint64_t id;                    /* key */
    bool works;                     /* it has rows of its own, or is filtered out */
    bool placed;                    /* part of its sum is still in a sleep slot */
    uint64_t total, before, summed; /* ns, open sleeps included; `summed`: the part in the map of sums */
};

struct block_waits {
    struct hash_table waiters;
    const struct object_map *slept;
    const volatile struct hog_io_sleeps *sleeps;
    bool own; /* the map of sums is ours: threads that sleep no more are deleted from it */
    uint64_t now;
};

/* False: a map is missing. */
bool block_waits_open(struct block_waits *waits, const struct object *obj, bool own);

/* Up to `now` on the programs' clock. */
int block_waits_collect(struct block_waits *waits, uint64_t now, struct error *why);
uint64_t waiter_waited(const struct waiter *waiter); /* ns, in the window */
void block_waits_close(struct block_waits *waits);

#endif
