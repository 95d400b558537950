// SPDX-License-Identifier: GPL-2.0-only
#include "source/block/block.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "block.types.h"
#include "host/targets.h"
#include "loader/kernel/map_read.h"
#include "source/block/load.h"
#include "source/block/waits.h"
#include "source/shared/pinned.h"
#include "source/shared/histogram.h"
#include "base/hash_table.h"
#include "syscall/bpf.h"
#include "source/shared/sources.h"

struct block_options block_options;

#define MOST_PAIRS 16384
#define MOST_DISKS 4096
#define FRESH_NS   1000000000 /* a device number may be reused */

struct pair {
    uint64_t id;
    struct hog_io_key key;
    bool seen, counted; /* at this snapshot: seen; seen in the counters */
    struct io_sums sums;
    uint64_t oldest;      /* begin of the oldest request in flight; 0: none */
    struct hog_io before; /* at the last snapshot; `busy`: as reported */
};

struct known_disk {
    uint64_t id;
    uint64_t asked;
    struct disk disk;
};

struct block_io {
    const struct source_context *context;
    struct block_load load;
    struct pinned pinned; /* when another hog counts */
    struct block_waits waits;
    const struct object_map *io, *names;
    const volatile struct hog_io_requests *requests;
    const volatile struct hog_io_words *words;
    volatile struct hog_io_modes *modes;
    struct hash_table pairs, disks;
    const struct io_sums **top;
    size_t ntop, room;
    uint64_t lost; /* since the start, at the last snapshot */
    uint64_t now;  /* the window's end on the programs' clock */
    struct io_totals totals;
};

static void block_io_close(void *state)
{
    struct block_io *b = state;

    block_unload(&b->load);
    hash_table_free(&b->pairs);
    block_waits_close(&b->waits);
    hash_table_free(&b->disks);
    free(b->top);
    free(b);
}

static int block_io_open(void **state, const struct source_context *context, unsigned needs,
                         struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    struct block_io *b = calloc(1, sizeof *b);

    if (!b)
        return error_set(why, -ENOMEM, "out of memory");
    b->context = context;
    b->pairs = (struct hash_table){.size = sizeof(struct pair), .most = MOST_PAIRS};
    b->disks = (struct hash_table){.size = sizeof(struct known_disk), .most = MOST_DISKS};
    int err = context->options->pinned
                  ? pinned_collector_open(&b->pinned, &b->load.collector, "block", context, why)
                  : block_load(&b->load, context, hooks, why);
    if (!err) {
        const struct object *obj = b->load.collector.obj;
        const struct object_map *requests = object_map(obj, "hog_io_requests");
        b->io = object_map(obj, "hog_io");
        b->names = object_map(obj, "hog_io_names");
        b->words = object_global(obj, "io_words", sizeof *b->words);
        b->modes = object_global(obj, "io_modes", sizeof *b->modes);
        b->requests = requests ? requests->memory : NULL;
        if (!b->requests || !b->io || !b->names || !b->words || !b->modes ||
            !block_waits_open(&b->waits, obj, !b->pinned.directory))
            err = error_set(why, -EINVAL, "%s: a map is missing", obj->name);
        else if (b->pinned.directory)
            b->load.waits = b->modes->waits;
    }
    if (err) {
        block_io_close(b);
        return err;
    }
    *state = b;
    return 0;
}

struct block_io *block_io_of(const struct source_context *context)
{
    return source_state(context, &block_source);
}

static void block_io_flip(void *state)
{
    struct block_io *b = state;

    if (!b->pinned.directory)
        sketch_flip(&b->load.collector.sketch);
}

/* ---- requests ---- */

/* The task key, with the fields where HOG_KEY_* say. */
static uint64_t io_who(const struct hog_io_key *key)
{
    return (uint64_t)key->process << HOG_KEY_PROCESS | (uint64_t)key->thread << HOG_KEY_THREAD | key->birth;
}

static uint64_t io_id(const struct hog_io_key *key)
{
    uint64_t id = io_who(key) * 0x9e3779b97f4a7c15ull;

    id = (id ^ id >> 32 ^ key->device) * 0xff51afd7ed558ccdull;
    return id | 1;
}

/* What came since `before`. */
static struct io_times io_times_from(const uint32_t now[HISTOGRAM_BUCKETS],
                                     const uint32_t before[HISTOGRAM_BUCKETS], bool *known)
{
    uint32_t counts[HISTOGRAM_BUCKETS];
    struct io_times times = {0};

    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        counts[i] = now[i] - before[i];
    *known = histogram_quantile(counts, 0.5, &times.p50) && histogram_quantile(counts, 0.95, &times.p95) &&
             histogram_quantile(counts, 0.99, &times.p99) && histogram_quantile(counts, 1, &times.most);
    return times;
}

/* Includes requests in flight up to the window's end, like count_busy() of bpf/block/block.bpf.h. */
static uint64_t busy_until(const struct hog_io *io, uint64_t made, uint64_t end)
{
    uint64_t more = 0;

    if (!made || made >= end)
        return io->busy;
    if (made >= io->until)
        return io->busy + (end - made);
    if (end > io->until)
        more = end - io->until;
    if (made < io->from)
        more += io->from - (made > io->before ? made : io->before);
    return io->busy + more;
}

static uint64_t io_count(const struct hog_io *io)
{
    return io->reads + io->writes + io->other;
}

/* Difference to the last snapshot, which this one replaces. Pinned counters that were evicted start again
 * from zero. */
static void subtract_io(struct pair *pair, const struct hog_io *now, uint64_t end)
{
    struct io_sums *sums = &pair->sums;
    const struct hog_io *before = &pair->before;
    uint64_t busy = busy_until(now, pair->oldest, end);
    bool known;

    if (io_count(now) < io_count(before))
        pair->before = (struct hog_io){0};
    sums->reads = now->reads - before->reads;
    sums->writes = now->writes - before->writes;
    sums->other = now->other - before->other;
    sums->failed = now->failed - before->failed;
    sums->read_bytes = now->read_bytes - before->read_bytes;
    sums->write_bytes = now->write_bytes - before->write_bytes;
    sums->busy_ns = busy > before->busy ? busy - before->busy : 0;
    sums->timed = false;
    if (sums->reads || sums->writes) {
        sums->times = io_times_from(now->times, before->times, &sums->timed);
        sums->queued = io_times_from(now->queued, before->queued, &known);
        sums->served = io_times_from(now->served, before->served, &known);
    }
    busy = busy > before->busy ? busy : before->busy;
    pair->before = *now;
    pair->before.busy = busy;
}

/* NULL: the table is full. */
static struct pair *find_io_pair(struct block_io *b, const struct hog_io_key *key)
{
    struct pair *pair = hash_table_find_or_add(&b->pairs, io_id(key));

    if (!pair)
        return NULL;
    pair->key = *key;
    pair->seen = true;
    pair->sums.who = io_who(key);
    pair->sums.device = key->device;
    return pair;
}

static int read_io_pair(void *context, const void *key, const void *value)
{
    struct block_io *b = context;
    struct hog_io_key k;
    struct hog_io now;

    memcpy(&k, key, sizeof k);
    memcpy(&now, value, sizeof now);
    struct pair *pair = find_io_pair(b, &k);
    if (!pair) {
        b->totals.lost++;
        return 0;
    }
    pair->counted = true;
    subtract_io(pair, &now, b->now);
    return 0;
}

/* A request in flight counts if it reads the same before and after. */
static void read_io_requests(struct block_io *b)
{
    for (size_t i = 0; i < sizeof b->requests->requests / sizeof *b->requests->requests; i++) {
        const volatile struct hog_io_request *request = &b->requests->requests[i];
        uint64_t made = request->made;
        if (!made)
            continue;
        uint64_t who = request->who;
        const struct hog_io_key key = {
            .process = key_process(who),
            .thread = key_thread(who),
            .birth = who & ((1u << HOG_KEY_THREAD) - 1),
            .device = request->device,
        };
        if (request->made != made || made >= b->now)
            continue;
        struct pair *pair = find_io_pair(b, &key);
        if (!pair)
            continue;
        pair->sums.flying++;
        if (!pair->oldest || made < pair->oldest)
            pair->oldest = made;
    }
}

static bool pair_did_something(const struct io_sums *sums)
{
    return sums->reads || sums->writes || sums->other || sums->flying || sums->read_bytes ||
           sums->write_bytes;
}

/* When the map fills up, idle entries are deleted. */
static bool drop_idle_pairs(const void *context, const void *entry)
{
    const struct block_io *b = context;
    const struct pair *pair = entry;

    if (!pair->seen)
        return false;
    return pair_did_something(&pair->sums) || sys_bpf_map_delete(b->io->fd, &pair->key) != 0;
}

static bool pair_was_seen(const void *context, const void *entry)
{
    return ((const struct pair *)entry)->seen;
}

static int collect_io_pairs(struct block_io *b, struct error *why)
{
    static const struct hog_io nothing;

    for (size_t i = 0; i < b->pairs.n; i++) {
        struct pair *pair = hash_table_at(&b->pairs, i);
        pair->seen = pair->counted = false;
        pair->sums.flying = pair->oldest = 0;
    }
    read_io_requests(b);
    int n = map_walk(b->io->fd, sizeof(struct hog_io_key), sizeof(struct hog_io), read_io_pair, b, why);
    if (n < 0)
        return n;
    for (size_t i = 0; i < b->pairs.n; i++) {
        struct pair *pair = hash_table_at(&b->pairs, i);
        if (pair->seen && !pair->counted) /* none has completed yet */
            subtract_io(pair, &nothing, b->now);
    }
    bool full = !b->pinned.directory && (uint32_t)n > b->io->max_entries / 4 * 3;
    hash_table_keep(&b->pairs, full ? drop_idle_pairs : pair_was_seen, b);
    return 0;
}

/* ---- rows ---- */

static bool io_is_wanted(struct block_io *b, uint32_t device)
{
    const char *list = block_options.devices;

    return !list || disk_is_listed(list, block_io_disk(b, device, b->now)->name);
}

static int compare_io(const void *a, const void *b)
{
    const struct io_sums *x = *(const struct io_sums *const *)a, *y = *(const struct io_sums *const *)b;
    uint64_t in_x[] = {x->read_bytes + x->write_bytes, x->reads + x->writes + x->other, x->busy_ns, y->who};
    uint64_t in_y[] = {y->read_bytes + y->write_bytes, y->reads + y->writes + y->other, y->busy_ns, x->who};

    for (size_t i = 0; i < sizeof in_x / sizeof *in_x; i++)
        if (in_x[i] != in_y[i])
            return in_x[i] > in_y[i] ? -1 : 1;
    return x->device < y->device ? -1 : x->device > y->device;
}

/* A process that waits for requests of others (a journal) has a row, too. */
static void add_idle_waiters(struct block_io *b)
{
    for (size_t i = 0; i < b->waits.waiters.n; i++)
        ((struct waiter *)hash_table_at(&b->waits.waiters, i))->works = block_options.devices;
    for (size_t i = 0; i < b->pairs.n; i++) {
        const struct io_sums *sums = &((struct pair *)hash_table_at(&b->pairs, i))->sums;
        struct waiter *waiter =
            pair_did_something(sums) ? hash_table_find(&b->waits.waiters, sums->who) : NULL;
        if (waiter)
            waiter->works = true;
    }
    for (size_t i = 0; i < b->waits.waiters.n; i++) {
        const struct waiter *waiter = hash_table_at(&b->waits.waiters, i);
        const struct hog_io_key key = {
            .process = key_process(waiter->id),
            .thread = key_thread(waiter->id),
            .birth = waiter->id & ((1u << HOG_KEY_THREAD) - 1),
            .device = IO_NO_DEVICE,
        };
        struct pair *pair = waiter->works || !waiter_waited(waiter) ? NULL : find_io_pair(b, &key);
        if (pair)
            pair->sums.busy_ns = waiter_waited(waiter);
    }
}

static int rank_io(struct block_io *b, struct error *why)
{
    b->ntop = 0;
    add_idle_waiters(b);
    if (b->room < b->pairs.n) {
        const struct io_sums **larger = realloc(b->top, b->pairs.n * sizeof(*larger));
        if (!larger)
            return error_set(why, -ENOMEM, "out of memory");
        b->top = larger;
        b->room = b->pairs.n;
    }
    for (size_t i = 0; i < b->pairs.n; i++) {
        const struct io_sums *sums = &((struct pair *)hash_table_at(&b->pairs, i))->sums;
        if (sums->device == IO_NO_DEVICE ? !sums->busy_ns
                                         : !pair_did_something(sums) || !io_is_wanted(b, sums->device))
            continue;
        b->top[b->ntop++] = sums;
        b->totals.reads += sums->reads;
        b->totals.writes += sums->writes;
        b->totals.other += sums->other;
        b->totals.read_bytes += sums->read_bytes;
        b->totals.write_bytes += sums->write_bytes;
    }
    if (b->ntop)
        qsort(b->top, b->ntop, sizeof *b->top, compare_io);
    return 0;
}

static int block_io_collect(void *state, const struct window *window, struct error *why)
{
    struct block_io *b = state;
    bool pinned = b->pinned.directory;
    int err = pinned ? pinned_stands(&b->pinned, why) : sketch_wait(&b->load.collector.sketch, why);
    uint64_t lost = b->words->lost;

    if (err)
        return err;
    b->now = window->end_mono - (uint64_t)b->load.collector.clock_offset;
    b->totals = (struct io_totals){.lost = lost - b->lost};
    b->lost = lost;
    if (!pinned)
        b->modes->swaps = disks_swapped_to();
    err = collect_io_pairs(b, why);
    if (!err)
        err = block_waits_collect(&b->waits, b->now, why);
    return err ? err : rank_io(b, why);
}

size_t block_io_top(struct block_io *b, const struct io_sums *const **top)
{
    *top = b->top;
    return b->ntop;
}

bool block_io_waited(const struct block_io *b, uint64_t who, uint64_t *ns)
{
    const struct waiter *waiter = hash_table_find(&b->waits.waiters, who);

    *ns = waiter ? waiter_waited(waiter) : 0;
    return b->load.waits && who > HOG_IO_SWAP;
}

const struct io_totals *block_io_totals(const struct block_io *b)
{
    return &b->totals;
}

const struct disk *block_io_disk(struct block_io *b, uint32_t device, uint64_t now)
{
    static struct disk none;
    struct known_disk *known = hash_table_find_or_add(&b->disks, device + 1ull);

    if (!known) {
        disk_read(device >> 20, device & 0xfffff, &none);
        return &none;
    }
    if (!known->asked || now - known->asked > FRESH_NS) {
        known->asked = now;
        disk_read(device >> 20, device & 0xfffff, &known->disk);
    }
    return &known->disk;
}

static bool block_io_exit_name(void *context, uint64_t key, struct name *name)
{
    const struct block_io *b = context;
    struct hog_io_name found;

    if (sys_bpf_map_lookup(b->names->fd, &key, &found))
        return false;
    name->kernel = found.comm[sizeof found.comm - 1] != 0;
    name->comm_length = strnlen(found.comm, sizeof found.comm - 1);
    memcpy(name->comm, found.comm, name->comm_length);
    name->uid = found.uid;
    name->uid_known = true;
    return true;
}

const struct name *block_io_name(struct block_io *b, uint64_t who, uint64_t now)
{
    return names_find(b->context->names, who, now, block_io_exit_name, b);
}

static uint64_t block_io_lost(void *state)
{
    return ((struct block_io *)state)->totals.lost;
}

static void block_io_cost(void *state, struct program_cost *cost)
{
    collector_cost(&((struct block_io *)state)->load.collector, cost);
}

const struct source block_source = {
    .name = "block",
    .ways = block_ways,
    .open = block_io_open,
    .flip = block_io_flip,
    .collect = block_io_collect,
    .lost = block_io_lost,
    .cost = block_io_cost,
    .close = block_io_close,
    .pin = block_pin,
};
