// SPDX-License-Identifier: GPL-2.0-only
#include "source/calls/calls_private.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "calls.types.h"
#include "base/clock.h"
#include "host/names.h"
#include "loader/kernel/map_read.h"
#include "source/calls/found.h"
#include "source/shared/histogram.h"
#include "syscall/bpf.h"
#include "base/message.h"

#define MOST_NAMES 16384

_Static_assert(HISTOGRAM_BUCKETS == HOG_HISTOGRAM_BUCKETS, "one histogram");

/* ---- pinning ---- */

int calls_pin(struct collector *collector, const struct source_context *context,
              struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    struct calls_load load = {.probes = NULL};
    struct error unseen;
    int err = calls_load_open(&load, context, hooks, why);

    if (err)
        return err;
    if (load.probes && calls_probes_scan(load.probes, clock_ns(CLOCK_MONOTONIC), &unseen) < 0)
        message("pin: some calls are not seen: %s", unseen.text);
    if (load.probes)
        err = calls_probes_hand_over(load.probes, &load.collector.links[0], why);
    if (err) {
        calls_load_close(&load);
        return err;
    }
    *collector = load.collector;
    load.collector = (struct collector){.obj = NULL};
    calls_load_close(&load);
    return 0;
}

/* ---- reading ---- */

static int read_functions(struct calls_load *load, struct error *why)
{
    const struct object_map *functions = object_map(load->collector.obj, "hog_functions");

    if (functions->fd < 0)
        return 0;
    load->functions = calloc(MOST_FUNCTIONS, sizeof *load->functions);
    if (!load->functions)
        return error_set(why, -ENOMEM, "out of memory");
    for (; load->nfunctions < MOST_FUNCTIONS; load->nfunctions++) {
        uint32_t number = (uint32_t)load->nfunctions;
        struct hog_function *function = &load->functions[number];
        if (sys_bpf_map_lookup(functions->fd, &number, function) || !*function->name)
            break;
        function->lib[sizeof function->lib - 1] = function->name[sizeof function->name - 1] = 0;
    }
    return 0;
}

int calls_pinned_open(struct calls_load *load, const struct source_context *context, struct error *why)
{
    int err = pinned_collector_open(&load->pinned, &load->collector, "calls", context, why);
    const struct object *obj = load->collector.obj;

    if (!err && (object_map(obj, "hog_calls")->fd < 0 || object_map(obj, "hog_call_times")->fd < 0 ||
                 !object_global(obj, "calls_words", sizeof(struct hog_calls_words))))
        err = error_set(why, -ENOENT, "%s/calls: a map is missing", load->pinned.directory);
    if (!err)
        err = read_functions(load, why);
    if (err)
        calls_load_close(load);
    return err;
}

/* The non-zero buckets of a histogram. */
struct kept_times {
    uint32_t n;
    struct kept_count {
        uint32_t bucket, count;
    } counts[];
};

static struct kept_times *keep_times(const uint32_t counts[HISTOGRAM_BUCKETS])
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        n += counts[i] != 0;
    struct kept_times *kept = malloc(sizeof *kept + n * sizeof *kept->counts);
    if (!kept)
        return NULL;
    kept->n = 0;
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        if (counts[i])
            kept->counts[kept->n++] = (struct kept_count){i, counts[i]};
    return kept;
}

static float call_quantile(const uint32_t counts[HISTOGRAM_BUCKETS], double q)
{
    uint64_t ns;

    return histogram_quantile(counts, q, &ns) ? (float)ns : 0;
}

/* A histogram that is new since the last snapshot, or counts less than it did, started from zero. */
static void take_call_times(struct call_sums *sums, const uint32_t now[HISTOGRAM_BUCKETS], bool was_there)
{
    uint32_t counts[HISTOGRAM_BUCKETS], n = was_there && sums->kept ? sums->kept->n : 0;

    memcpy(counts, now, sizeof counts);
    for (uint32_t i = 0; i < n; i++) {
        const struct kept_count *kept = &sums->kept->counts[i];
        if (kept->count > now[kept->bucket]) {
            memcpy(counts, now, sizeof counts);
            break;
        }
        counts[kept->bucket] -= kept->count;
    }
    sums->times = (struct call_times){call_quantile(counts, 0.5), call_quantile(counts, 0.99),
                                      call_quantile(counts, 1)};
    free(sums->kept);
    sums->kept = keep_times(now);
}

/* ---- names ---- */

/* Name of a process or thread at its latest call. */
struct call_name {
    uint64_t id; /* key */
    uint64_t snapshot, named;
    struct hog_thread_name name;
};

static void note_call_name(struct calls_sums *all, uint64_t who, const struct hog_call_sums *now)
{
    struct call_name *name = hash_table_find_or_add(&all->names, who);

    if (!name)
        return;
    name->snapshot = all->snapshots;
    if (now->named < name->named)
        return;
    name->named = now->named;
    name->name = now->name;
}

static bool name_is_current(const void *context, const void *entry)
{
    return ((const struct call_name *)entry)->snapshot == ((const struct calls_sums *)context)->snapshots;
}

bool calls_pinned_name(const struct calls_sums *all, uint64_t who, struct name *name)
{
    const struct call_name *found = hash_table_find(&all->names, who);

    if (!found || !found->named)
        return false;
    name->comm_length = strnlen(found->name.comm, sizeof found->name.comm);
    memcpy(name->comm, found->name.comm, name->comm_length);
    name->uid = found->name.uid;
    name->uid_known = true;
    name->kernel = found->name.kernel;
    return true;
}

/* ---- snapshots ---- */

static struct hog_calls_key call_key(const void *k)
{
    struct hog_call call;

    memcpy(&call, k, sizeof call);
    return (struct hog_calls_key){
        .who =
            (uint64_t)call.process << HOG_KEY_PROCESS | (uint64_t)call.thread << HOG_KEY_THREAD | call.birth,
        .call = call.call,
        .kind = call.kind,
    };
}

static int read_call(void *context, const void *k, const void *value)
{
    struct calls_sums *all = context;
    const struct hog_calls_key key = call_key(k);
    struct hog_call_sums now;

    memcpy(&now, value, sizeof now);
    struct call_sums *sums = calls_sums_of(all, &key, &now.sums);
    if (!sums)
        return 0;
    all->fresh += !sums->known;
    sums->known = true;
    sums->times = (struct call_times){0};
    note_call_name(all, key.who, &now);
    return 0;
}

static int read_times(void *context, const void *k, const void *value)
{
    struct calls_sums *all = context;
    const struct hog_calls_key key = call_key(k);
    uint32_t counts[HISTOGRAM_BUCKETS];
    struct call_sums *sums = hash_table_find(&all->table, calls_id(&key));

    if (!sums)
        return 0;
    memcpy(counts, value, sizeof counts);
    bool was_there = sums->timed == all->snapshots - 1;
    if (!was_there || !sums->kept || sums->counts.returned != sums->before.returned)
        take_call_times(sums, counts, was_there);
    sums->timed = (uint32_t)all->snapshots;
    return 0;
}

/* Keys created but never seen were evicted between snapshots. The number of created keys is read first, so
 * that keys created during the snapshot do not count as missed; the first snapshot reads it again at its end.
 */
int calls_pinned_read(struct calls_sums *all, struct error *why)
{
    const struct object *obj = all->load.collector.obj;
    const struct object_map *map = object_map(obj, "hog_calls"), *times = object_map(obj, "hog_call_times");
    const volatile struct hog_calls_words *words = object_global(obj, "calls_words", sizeof *words);
    uint64_t made = words->keys;
    int err = map_walk(map->fd, map->key_size, map->value_size, read_call, all, why);

    if (err >= 0)
        err = map_walk(times->fd, times->key_size, times->value_size, read_times, all, why);
    if (err < 0)
        return err;
    if (all->snapshots == 1) {
        all->made = words->keys;
        all->fresh = 0;
    } else if (made > all->made + all->fresh + all->unseen) {
        all->unseen = made - all->made - all->fresh;
    }
    hash_table_keep(&all->names, name_is_current, all);
    return pinned_stands(&all->load.pinned, why);
}

void calls_pinned_begin(struct calls_sums *all)
{
    all->names = (struct hash_table){.size = sizeof(struct call_name), .most = MOST_NAMES};
}
