// SPDX-License-Identifier: GPL-2.0-only
#include "source/shared/pinned_threads.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/cpus.h"
#include "loader/kernel/map_read.h"
#include "shared.types.h"
#include "syscall/bpf.h"

/* Threads that a reader remembers: more than the maps can hold. */
#define MOST (1u << 17)

#define EXITED_A_CPU 256 /* and at least 4096: each CPU keeps some in reserve */

/* A thread at the latest snapshot. */
struct seen {
    uint64_t id;
    uint64_t key; /* of the row it is counted in */
    uint64_t counters[PINNED_COUNTERS];
    struct hog_thread_name name;
    uint32_t tid;
    uint32_t snapshot; /* the latest one that contained it */
    bool exited;
};

/* Unique while the kernel runs: a TID is not reused within a microsecond. */
static uint64_t thread_id(const struct hog_thread *thread)
{
    return (uint64_t)thread->tid << 42 | (thread->born_ns >> 10 & ((UINT64_C(1) << 42) - 1));
}

static uint64_t thread_key(const struct pinned_threads *p, const struct hog_thread *thread,
                           const struct hog_thread_name *name)
{
    if (p->context->options->threads)
        return key_make(thread->pid, thread->tid, thread->born_ns);
    return key_make(thread->pid, 0, name->process_born_ns);
}

/* Counters that decreased keep their old value and add nothing. */
static bool subtract(uint64_t before[PINNED_COUNTERS], const uint64_t now[PINNED_COUNTERS],
                     uint64_t added[PINNED_COUNTERS])
{
    bool any = false;

    for (int i = 0; i < PINNED_COUNTERS; i++) {
        added[i] = now[i] > before[i] ? now[i] - before[i] : 0;
        before[i] += added[i];
        any = any || added[i];
    }
    return any;
}

/* An entry of either map. While a thread exits it may be in both: the later count is right. It is the larger
 * one, except for time stolen from the last timeslice. */
static void note_thread(struct pinned_threads *p, const void *key, const void *value, bool exited)
{
    struct hog_thread thread;
    uint64_t counters[PINNED_COUNTERS] = {0}, added[PINNED_COUNTERS];
    size_t known = p->table.n;

    memcpy(&thread, key, sizeof thread);
    struct seen *seen = hash_table_find_or_add(&p->table, thread_id(&thread));
    if (!seen) {
        p->lost++;
        return;
    }
    p->kind->counters(value, p->now, counters);
    if (p->table.n > known && !p->snapshot)
        memcpy(seen->counters, counters, sizeof counters);
    else if (counters[1] < seen->counters[1] && seen->snapshot != p->snapshot)
        memset(seen->counters, 0, sizeof seen->counters);
    memcpy(&seen->name, (const char *)value + p->kind->value_bytes - sizeof seen->name, sizeof seen->name);
    seen->key = thread_key(p, &thread, &seen->name);
    seen->tid = thread.tid;
    seen->snapshot = p->snapshot;
    p->exits_seen += exited && !seen->exited && p->snapshot;
    seen->exited = exited;
    if (subtract(seen->counters, counters, added))
        p->kind->did(p->state, seen->key, added, value);
}

static int note_living(void *context, const void *key, const void *value)
{
    note_thread(context, key, value, false);
    return 0;
}

static int note_exited(void *context, const void *key, const void *value)
{
    note_thread(context, key, value, true);
    return 0;
}

static bool in_snapshot(const void *context, const void *entry)
{
    return ((const struct seen *)entry)->snapshot == ((const struct pinned_threads *)context)->snapshot;
}

static int read_cpus(struct pinned_threads *p, struct hog_exits *sums)
{
    uint32_t zero = 0;
    int err = sys_bpf_map_lookup(p->cpus, &zero, p->per_cpu);

    *sums = (struct hog_exits){0};
    for (int i = 0; i < p->possible && !err; i++) {
        struct hog_exits exits;
        memcpy(&exits, p->per_cpu + (size_t)i * p->cpu_bytes, sizeof exits);
        sums->exits += exits.exits;
        sums->lost += exits.lost;
    }
    return err;
}

/* Exited threads that were evicted before this snapshot count as lost. CPUs are read first, so that no thread
 * that exits during the snapshot counts as missed; the first snapshot reads them again at its end, because
 * those threads are already in the exited map. */
static int count_missed(struct pinned_threads *p, struct hog_exits *sums)
{
    int err = p->snapshot ? 0 : read_cpus(p, sums);

    if (!p->snapshot) {
        p->lost_before = sums->lost;
        p->exits_before = sums->exits;
    }
    uint64_t exits = sums->exits - p->exits_before, known = p->exits_seen + p->exits_missed;
    uint64_t missed = exits > known ? exits - known : 0;
    p->exits_missed += missed;
    p->lost += missed + sums->lost - p->lost_before;
    p->lost_before = sums->lost;
    hash_table_keep(&p->table, in_snapshot, p);
    p->snapshot++;
    return err;
}

int pinned_threads_snapshot(struct pinned_threads *p, struct error *why)
{
    struct hog_exits sums;

    p->lost = 0;
    p->now = clock_ns(CLOCK_MONOTONIC) - (uint64_t)p->pinned.clock_offset;
    int err = read_cpus(p, &sums);
    if (err)
        return error_set(why, err, "reading pinned counts of CPUs: %s", error_name(err));
    /* Living threads first: a thread that exits meanwhile is then found in the exited map. */
    err = map_walk(p->threads, sizeof(struct hog_thread), p->kind->value_bytes, note_living, p, why);
    if (err >= 0)
        err = map_walk(p->exited, sizeof(struct hog_thread), p->kind->value_bytes, note_exited, p, why);
    if (err >= 0)
        err = count_missed(p, &sums);
    return err < 0 ? err : pinned_stands(&p->pinned, why);
}

/* A process has the name of its first thread, or of any other thread that is known. */
static bool pinned_exit_name(void *context, uint64_t key, struct name *name)
{
    const struct pinned_threads *p = context;
    const struct seen *best = NULL;

    for (size_t i = 0; i < p->table.n; i++) {
        const struct seen *seen = hash_table_at(&p->table, i);
        if (seen->key == key && (!best || seen->tid == key_process(key)))
            best = seen;
    }
    if (!best)
        return false;
    name->comm_length = strnlen(best->name.comm, sizeof best->name.comm);
    memcpy(name->comm, best->name.comm, name->comm_length);
    name->uid = best->name.uid;
    name->uid_known = true;
    name->kernel = best->name.kernel;
    return true;
}

const struct name *pinned_threads_name(struct pinned_threads *p, uint64_t key, uint64_t now)
{
    return names_find(p->context->names, key, now, pinned_exit_name, p);
}

int pinned_threads_open(struct pinned_threads *p, const struct pinned_kind *kind, void *state,
                        const struct source_context *context, struct error *why)
{
    int possible = cpus_possible();

    *p = (struct pinned_threads){.kind = kind, .state = state, .context = context, .possible = possible};
    p->table = (struct hash_table){.size = sizeof(struct seen), .most = MOST};
    if (possible < 0)
        return error_set(why, possible, "cannot read the list of possible CPUs: %s", error_name(possible));
    int err = pinned_open(&p->pinned, kind->object, kind->view, context, why);
    if (err)
        return err;
    const struct object_map *cpus = object_map(p->pinned.obj, "hog_cpus");
    p->threads = object_map(p->pinned.obj, "hog_threads")->fd;
    p->exited = object_map(p->pinned.obj, "hog_exited")->fd;
    p->cpus = cpus->fd;
    if (p->threads < 0 || p->exited < 0 || p->cpus < 0)
        return error_set(why, -ENOENT, "%s/%s: a map is missing", p->pinned.directory, kind->view);
    p->cpu_bytes = (cpus->value_size + 7u) & ~(size_t)7;
    p->per_cpu = calloc((size_t)possible, p->cpu_bytes);
    return p->per_cpu ? 0 : error_set(why, -ENOMEM, "out of memory");
}

void pinned_threads_close(struct pinned_threads *p)
{
    pinned_close(&p->pinned);
    hash_table_free(&p->table);
    free(p->per_cpu);
    p->per_cpu = NULL;
}

void pinned_threads_resize(const struct object *obj, int cpus)
{
    struct object_map *exited = object_map(obj, "hog_exited");
    uint32_t most = exited ? exited->max_entries : 0;

    while (exited && most < (uint32_t)cpus * EXITED_A_CPU)
        most *= 2;
    if (exited)
        object_resize_map(exited, 0, most);
}
