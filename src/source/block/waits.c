// SPDX-License-Identifier: GPL-2.0-only
#include "source/block/waits.h"
#include <errno.h>
#include <string.h>
#include "block.types.h"
#include "loader/kernel/map_read.h"
#include "syscall/bpf.h"

#define MOST_WAITERS 8192

bool block_waits_open(struct block_waits *waits, const struct object *obj, bool own)
{
    const struct object_map *sleeps = object_map(obj, "hog_io_sleeps");

    waits->waiters = (struct hash_table){.size = sizeof(struct waiter), .most = MOST_WAITERS};
    waits->slept = object_map(obj, "hog_io_slept");
    waits->sleeps = sleeps ? sleeps->memory : NULL;
    waits->own = own;
    return waits->slept && waits->sleeps;
}

void block_waits_close(struct block_waits *waits)
{
    hash_table_free(&waits->waiters);
}

static int read_slept(void *context, const void *key, const void *value)
{
    struct block_waits *waits = context;
    struct hog_io_slept slept;
    uint64_t who;

    memcpy(&who, key, sizeof who);
    memcpy(&slept, value, sizeof slept);
    struct waiter *waiter = hash_table_find_or_add(&waits->waiters, who);
    if (waiter)
        waiter->total = waiter->summed = slept.ns;
    return 0;
}

static bool waiter_is_active(const void *context, const void *entry)
{
    const struct block_waits *waits = context;
    const struct waiter *waiter = entry;

    if (waiter->total != waiter->before || waiter->placed)
        return true;
    int err = sys_bpf_map_delete(waits->slept->fd, &waiter->id);
    return err && err != -ENOENT;
}

/* Runs after the map of sums, which receives a slot's sum when the slot is reused. A slot that changes while
 * it is read is skipped until the next snapshot. A sleep still going on counts up to now. */
static void add_sleeps(struct block_waits *waits)
{
    for (size_t i = 0; i < sizeof waits->sleeps->sleeps / sizeof *waits->sleeps->sleeps; i++) {
        const volatile struct hog_io_sleep *sleep = &waits->sleeps->sleeps[i];
        uint64_t who = sleep->key, ns = sleep->slept, task = sleep->task, since = sleep->since;
        if ((!ns && !task) || sleep->key != who || sleep->task != task || sleep->since != since)
            continue;
        struct waiter *waiter = hash_table_find_or_add(&waits->waiters, who);
        if (!waiter)
            continue;
        waiter->placed = true;
        waiter->total += ns;
        if (task && since < waits->now)
            waiter->total += waits->now - since;
    }
}

int block_waits_collect(struct block_waits *waits, uint64_t now, struct error *why)
{
    waits->now = now;
    for (size_t i = 0; i < waits->waiters.n; i++) {
        struct waiter *waiter = hash_table_at(&waits->waiters, i);
        waiter->before = waiter->total > waiter->before ? waiter->total : waiter->before;
        waiter->total = waiter->summed;
        waiter->placed = false;
    }
    int n = map_walk(waits->slept->fd, sizeof(uint64_t), sizeof(struct hog_io_slept), read_slept, waits, why);
    if (n < 0)
        return n;
    add_sleeps(waits);
    if (waits->own && (uint32_t)n > waits->slept->max_entries / 4 * 3)
        hash_table_keep(&waits->waiters, waiter_is_active, waits);
    return 0;
}

uint64_t waiter_waited(const struct waiter *waiter)
{
    return waiter->total > waiter->before ? waiter->total - waiter->before : 0;
}
