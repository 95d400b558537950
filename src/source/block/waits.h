/* SPDX-License-Identifier: GPL-2.0-only */
/* How long threads slept for I/O in a window: from the sums of bpf/block/waits.bpf.h, which only grow. */
#ifndef HOG_SOURCE_BLOCK_WAITS_H
#define HOG_SOURCE_BLOCK_WAITS_H

#include "loader/object.h"
#include "base/hash_table.h"

struct hog_io_sleeps;

struct waiter {
    uint64_t id;                    /* key */
    bool works;                     /* it has rows of its own, or shall have none */
    bool placed;                    /* part of its sum stands where it slept last */
    uint64_t total, before, summed; /* ns, with sleeps that go on; in the map of sums */
};

struct block_waits {
    struct hash_table waiters;
    const struct object_map *slept;
    const volatile struct hog_io_sleeps *sleeps;
    bool own; /* the map of sums is ours: those who sleep no more give their room to others */
    uint64_t now;
};

/* False: a map is missing. */
bool block_waits_open(struct block_waits *waits, const struct object *obj, bool own);

/* Up to `now`, by the programs' clock. */
int block_waits_collect(struct block_waits *waits, uint64_t now, struct error *why);
uint64_t waiter_waited(const struct waiter *waiter); /* ns, in the window */
void block_waits_close(struct block_waits *waits);

#endif
