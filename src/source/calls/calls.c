// SPDX-License-Identifier: GPL-2.0-only
#include "source/calls/calls_private.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "calls.types.h"
#include "host/names.h"
#include "host/pidns.h"
#include "loader/kernel/map_read.h"
#include "syscall/bpf.h"
#include "source/shared/sources.h"

#define MOST_KEYS 16384

uint64_t calls_id(const struct hog_calls_key *key)
{
    uint64_t call = (uint64_t)key->kind << 32 | key->call;

    return (key->who * 0x9e3779b97f4a7c15ull ^ (call + 1) * 0xc2b2ae3d27d4eb4full) | 1;
}

static struct call_sums *call_sums_of(struct calls_sums *all, const struct hog_calls_key *key)
{
    struct call_sums *sums = hash_table_find_or_add(&all->table, calls_id(key));

    if (!sums)
        return NULL;
    if (sums->snapshot != all->snapshots) {
        sums->before = sums->counts;
        sums->in_flight = sums->in_flight_ns = 0;
        sums->snapshot = all->snapshots;
        sums->who = key->who;
        sums->call = key->call;
        sums->kind = key->kind;
    }
    return sums;
}

static void add_in_flight(struct calls_sums *all, const struct hog_calls_key *key, uint64_t since)
{
    struct call_sums *sums = call_sums_of(all, key);

    if (!sums)
        return;
    sums->in_flight++;
    sums->in_flight_ns += all->now > since ? all->now - since : 0;
}

static int read_syscall(void *context, const void *key, const void *value)
{
    struct hog_syscall_now now;

    memcpy(&now, value, sizeof now);
    if (now.since)
        add_in_flight(context, &(struct hog_calls_key){now.who, now.call, now.kind}, now.since);
    return 0;
}

static int read_frames(void *context, const void *key, const void *value)
{
    struct hog_calls_now now;

    memcpy(&now, value, sizeof now);
    for (uint32_t i = 0; i < now.depth && i < sizeof now.frames / sizeof *now.frames; i++)
        add_in_flight(context, &(struct hog_calls_key){now.who, now.frames[i].function, HOG_CALLS_FUNCTION},
                      now.frames[i].since);
    return 0;
}

static void forget_call_times(struct call_sums *sums)
{
    free(sums->kept);
    sums->kept = NULL;
}

struct call_sums *calls_sums_of(struct calls_sums *all, const struct hog_calls_key *key,
                                const struct hog_calls_sums *now)
{
    struct call_sums *sums = call_sums_of(all, key);

    all->in_kernel++;
    if (!sums)
        return NULL;
    /* Pinned counters that were evicted start again from zero. */
    if (now->returned < sums->before.returned) {
        sums->before = (struct call_counts){0};
        sums->known = false;
    }
    sums->left = now->left;
    sums->counts.returned = now->returned;
    sums->counts.failed = now->failed;
    sums->counts.unsized = now->unsized;
    sums->counts.bytes = now->bytes;
    sums->counts.ns = now->ns;
    return sums;
}

static int read_sums(void *context, const void *k, const void *value)
{
    struct hog_calls_key key;
    struct hog_calls_sums now;

    memcpy(&key, k, sizeof key);
    memcpy(&now, value, sizeof now);
    calls_sums_of(context, &key, &now);
    return 0;
}

static uint64_t greater(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Calls begin and end while the maps are read, so one may be seen twice or not at all: counts never go back,
 * and what was missed is in the next window. */
static void settle_call(struct call_sums *sums, bool first)
{
    struct call_counts *c = &sums->counts;

    c->entered = greater(c->returned + sums->left + sums->in_flight, sums->before.entered);
    c->ns = greater(c->ns + sums->in_flight_ns, sums->before.ns);
    if (first)
        sums->before = *c;
}

static bool call_is_there(const void *context, const void *entry)
{
    return ((const struct call_sums *)entry)->snapshot == ((const struct calls_sums *)context)->snapshots;
}

/* Frees what removed entries own. */
static void drop_gone_calls(struct calls_sums *all)
{
    for (size_t i = 0; i < all->table.n; i++)
        if (!call_is_there(all, hash_table_at(&all->table, i)))
            forget_call_times(hash_table_at(&all->table, i));
    hash_table_keep(&all->table, call_is_there, all);
}

/* Deletes keys of exited processes that did nothing in the window. Where /proc cannot say whether a process
 * is gone, any idle key goes. */
static void delete_idle_calls(struct calls_sums *all)
{
    const struct object_map *map = object_map(all->load.collector.obj, "hog_calls_sums");
    bool tells = pidns_is_of_proc(all->context->pidns);

    for (size_t i = 0; i < all->table.n; i++) {
        struct call_sums *sums = hash_table_at(&all->table, i);
        const struct hog_calls_key key = {sums->who, sums->call, sums->kind};
        struct process process;
        if (sums->in_flight || memcmp(&sums->counts, &sums->before, sizeof sums->counts) != 0)
            continue;
        if (tells && sums->who != HOG_KEY_OUTSIDE) {
            int err = process_read(key_process(sums->who), key_thread(sums->who), &process);
            if (err != -ESRCH && (err || key_born_at(sums->who, process.start_ns)))
                continue;
        }
        sys_bpf_map_delete(map->fd, &key);
        sums->snapshot = 0;
    }
    hash_table_keep(&all->table, call_is_there, all);
}

static int walk_calls_map(struct calls_sums *all, const char *name, entry_fn fn, struct error *why)
{
    const struct object_map *map = object_map(all->load.collector.obj, name);

    return map->instead || map->fd < 0 ? 0 : map_walk(map->fd, map->key_size, map->value_size, fn, all, why);
}

static int read_calls(struct calls_sums *all, uint64_t now, struct error *why)
{
    const struct object *obj = all->load.collector.obj;
    const volatile struct hog_calls_words *words = object_global(obj, "calls_words", sizeof *words);
    bool pinned = all->load.pinned.directory;

    all->now = now - (uint64_t)all->load.collector.clock_offset;
    all->snapshots++;
    all->in_kernel = 0;
    int err = walk_calls_map(all, "hog_syscall_now", read_syscall, why);
    if (err >= 0)
        err = walk_calls_map(all, "hog_calls_now", read_frames, why);
    if (err >= 0)
        err = pinned ? calls_pinned_read(all, why) : walk_calls_map(all, "hog_calls_sums", read_sums, why);
    if (err < 0)
        return err;
    drop_gone_calls(all);
    for (size_t i = 0; i < all->table.n; i++)
        settle_call(hash_table_at(&all->table, i), all->snapshots == 1);
    if (!pinned && all->in_kernel > object_map(obj, "hog_calls_sums")->max_entries / 2)
        delete_idle_calls(all);
    all->lost_before = all->lost;
    all->lost = words->lost + all->unseen;
    return 0;
}

struct call_counts calls_in_window(const struct call_sums *sums)
{
    const struct call_counts *c = &sums->counts, *b = &sums->before;

    return (struct call_counts){.entered = c->entered - b->entered,
                                .returned = c->returned - b->returned,
                                .failed = c->failed - b->failed,
                                .unsized = c->unsized - b->unsized,
                                .bytes = c->bytes - b->bytes,
                                .ns = c->ns - b->ns};
}

uint64_t calls_lost(const struct calls_sums *sums)
{
    return sums->lost - sums->lost_before;
}

static void calls_sums_close(void *state)
{
    struct calls_sums *sums = state;

    sums->snapshots++; /* marks all as gone */
    drop_gone_calls(sums);
    hash_table_free(&sums->table);
    hash_table_free(&sums->names);
    calls_load_close(&sums->load);
    free(sums);
}

static int calls_sums_open(void **state, const struct source_context *context, unsigned needs,
                           struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    struct calls_sums *sums = calloc(1, sizeof *sums);

    if (!sums)
        return error_set(why, -ENOMEM, "out of memory");
    sums->context = context;
    sums->table = (struct hash_table){.size = sizeof(struct call_sums), .most = MOST_KEYS};
    int err = context->options->pinned ? calls_pinned_open(&sums->load, context, why)
                                       : calls_load_open(&sums->load, context, hooks, why);
    if (err) {
        free(sums);
        return err;
    }
    calls_pinned_begin(sums);
    *state = sums;
    return 0;
}

struct calls_sums *calls_sums_of_session(const struct source_context *context)
{
    return source_state(context, &calls_source);
}

static void calls_sums_flip(void *state)
{
    struct calls_sums *sums = state;

    if (sums->load.pinned.directory)
        return;
    sketch_flip(&sums->load.collector.sketch);
    histogram_by_key_flip(&sums->load.histogram_by_key);
}

static int calls_sums_collect(void *state, const struct window *window, struct error *why)
{
    struct calls_sums *sums = state;
    int err = sums->load.pinned.directory ? 0 : sketch_wait(&sums->load.collector.sketch, why);

    if (!err)
        err = read_calls(sums, window->end_mono, why);
    if (!err && sums->load.probes)
        sums->unprobed = calls_probes_scan(sums->load.probes, window->end_mono, &sums->unprobed_why);
    return err;
}

static void calls_sums_shown(void *state)
{
    struct calls_sums *sums = state;

    if (!sums->load.pinned.directory)
        sketch_shown(&sums->load.collector.sketch);
}

static uint64_t calls_sums_lost(void *state)
{
    return calls_lost(state);
}

static void calls_sums_cost(void *state, struct program_cost *cost)
{
    collector_cost(&((struct calls_sums *)state)->load.collector, cost);
}

const struct source calls_source = {
    .name = "calls",
    .ways = calls_ways,
    .open = calls_sums_open,
    .flip = calls_sums_flip,
    .collect = calls_sums_collect,
    .shown = calls_sums_shown,
    .lost = calls_sums_lost,
    .cost = calls_sums_cost,
    .close = calls_sums_close,
    .pin = calls_pin,
};
