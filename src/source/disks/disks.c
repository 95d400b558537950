// SPDX-License-Identifier: GPL-2.0-only
#include "source/disks/disks.h"
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "disks.types.h"
#include "loader/kernel/privilege.h"
#include "source/sched/sched.h"
#include "source/shared/collector.h"
#include "source/shared/sources.h"
#include "base/hash_table.h"

/* Few tasks do I/O at the same time. */
#define STAGES 4
#define SLOTS  16
#define MOST   16384 /* pairs of a process and a disk */

/* I/O of a process on a disk. */
struct pair {
    uint64_t id;
    struct hog_disk_slot sum;
};

/* The disk with most of a process's I/O. */
struct best {
    uint64_t key;
    uint64_t bytes;
    size_t pair;
};

struct disks {
    struct collector collector;
    struct hash_table pairs, bests;
    uint64_t lost;
};

static const struct alternative bios[] = {{"tp_btf", "hog_bio_btf"}, {"raw_tp", "hog_bio_raw"}};
/* Optional: without it, what kernel threads write back is theirs. */
static const struct alternative dirties[] = {{"tp_btf", "hog_dirty_btf"},
                                             {"tp_btf", "hog_dirty_page_btf"},
                                             {"raw_tp", "hog_dirty_raw"},
                                             {"raw_tp", "hog_dirty_page_raw"}};
static const struct hook_ways disks_ways[] = {{"bio", bios, 2}, {"dirty", dirties, 4}, {NULL, NULL, 0}};

static int disks_load(struct collector *collector, const struct source_context *context, bool classic,
                      struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    static const struct collector_object object = {"disks", offsetof(struct hog_disks, slots),
                                                   sizeof(struct hog_disk_slot), false};

    if (classic)
        return error_set(why, -ENOTSUP, "I/O cannot be attributed to processes without reading task_struct");
    int err = collector_open(collector, &object, context, false, why);
    bool *can_probe = err ? NULL : object_global(collector->obj, "can_probe", sizeof *can_probe);
    if (can_probe)
        *can_probe = strcmp(lockdown_mode(), "confidentiality") != 0;
    if (!err && !collector->exact) {
        collector->sketch.shape.stages = STAGES;
        collector->sketch.shape.slots = SLOTS;
        err = sketch_configure(collector->obj, &collector->sketch.shape, why);
    }
    if (!err)
        err = collector_load(collector, context, why);
    if (!err)
        err = hook_attach(collector, context, &collector->links[0], bios, 2, hook_report(hooks, "bio", false),
                          why);
    struct error optional;
    if (!err)
        hook_attach(collector, context, &collector->links[1], dirties, 4, hook_report(hooks, "dirty", false),
                    &optional);
    return err;
}

static void disks_close(void *state)
{
    struct disks *d = state;

    collector_close(&d->collector);
    hash_table_free(&d->pairs);
    hash_table_free(&d->bests);
    free(d);
}

static int disks_open(void **state, const struct source_context *context, unsigned needs,
                      struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    const struct sched *sched = sched_of(context);

    if (sched && !sched_knows_births(sched))
        return error_set(why, -ENOTSUP, "I/O cannot be attributed to processes without reading task_struct");
    struct disks *d = calloc(1, sizeof *d);
    if (!d)
        return error_set(why, -ENOMEM, "out of memory");
    d->pairs = (struct hash_table){.size = sizeof(struct pair), .most = MOST};
    d->bests = (struct hash_table){.size = sizeof(struct best), .most = MOST};
    int err = collector_by_any(&d->collector, context, disks_load, hooks, why);
    if (err) {
        free(d);
        return err;
    }
    *state = d;
    return 0;
}

struct disks *disks_of_session(const struct source_context *context)
{
    return source_state(context, &disks_source);
}

static void disks_flip(void *state)
{
    sketch_flip(&((struct disks *)state)->collector.sketch);
}

static void disks_add(struct disks *d, const struct hog_disk_slot *slot)
{
    struct pair *pair = hash_table_find_or_add(&d->pairs, slot->slot.key);
    struct best *best = pair ? hash_table_find_or_add(&d->bests, slot->who) : NULL;

    if (!best) {
        d->lost += slot->slot.count;
        return;
    }
    pair->sum.who = slot->who;
    pair->sum.major = slot->major;
    pair->sum.minor = slot->minor;
    pair->sum.slot.weight += slot->slot.weight;
    pair->sum.slot.count += slot->slot.count;
    pair->sum.writes += slot->writes;
    if (pair->sum.slot.weight > best->bytes) {
        best->bytes = pair->sum.slot.weight;
        best->pair = (size_t)((unsigned char *)pair - d->pairs.entries) / d->pairs.size;
    }
}

static void disks_add_slot(void *context, const struct hog_slot *head)
{
    disks_add(context, (const struct hog_disk_slot *)head);
}

static int disks_add_exact(void *context, const void *key, const void *value)
{
    struct hog_disk_slot slot;

    memcpy(&slot, value, sizeof slot);
    disks_add(context, &slot);
    return 0;
}

static bool keep_none(const void *context, const void *entry)
{
    return false;
}

static int disks_collect(void *state, const struct window *window, struct error *why)
{
    struct disks *d = state;
    const struct sketch *sketch = &d->collector.sketch;
    uint64_t bytes = 0;
    int err = sketch_wait(sketch, why);

    if (err)
        return err;
    hash_table_keep(&d->pairs, keep_none, NULL);
    hash_table_keep(&d->bests, keep_none, NULL);
    d->lost = 0;
    for (int cpu = 0; cpu < sketch->shape.cpus; cpu++) {
        if (!d->collector.exact)
            sketch_drain(sketch, cpu, disks_add_slot, d);
        sketch_lost(sketch, cpu, &bytes, &d->lost);
    }
    return collector_drain_exact(&d->collector, disks_add_exact, d, why);
}

bool disks_of(const struct disks *d, uint64_t key, struct disk_use *use)
{
    const struct best *best = hash_table_find(&d->bests, key);

    if (!best || !best->bytes)
        return false;
    const struct hog_disk_slot *sum = &((const struct pair *)hash_table_at(&d->pairs, best->pair))->sum;
    *use = (struct disk_use){
        .major = sum->major,
        .minor = sum->minor,
        .bytes = sum->slot.weight,
        .reads = sum->slot.count - sum->writes,
        .writes = sum->writes,
    };
    disk_read(use->major, use->minor, &use->disk);
    return true;
}

bool disks_heaviest(const struct disks *d, uint32_t major, uint32_t minor, disks_fn counts,
                    const void *context, struct disk_share *share)
{
    *share = (struct disk_share){.key = 0};
    for (size_t i = 0; i < d->pairs.n; i++) {
        const struct hog_disk_slot *sum = &((const struct pair *)hash_table_at(&d->pairs, i))->sum;
        if (sum->major != major || sum->minor != minor)
            continue;
        share->all += sum->slot.weight;
        if (sum->slot.weight > share->bytes && counts(context, sum->who)) {
            share->bytes = sum->slot.weight;
            share->key = sum->who;
        }
    }
    return share->key;
}

static uint64_t disks_lost(void *state)
{
    return ((struct disks *)state)->lost;
}

static void disks_cost(void *state, struct program_cost *cost)
{
    collector_cost(&((struct disks *)state)->collector, cost);
}

const struct source disks_source = {
    .name = "disks",
    .ways = disks_ways,
    .open = disks_open,
    .flip = disks_flip,
    .collect = disks_collect,
    .lost = disks_lost,
    .cost = disks_cost,
    .close = disks_close,
};
