// SPDX-License-Identifier: GPL-2.0-only
#include "source/shared/pinned_threads.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/cpus.h"
#include "loader/map_read.h"
#include "shared.types.h"
#include "syscall/bpf.h"

/* Threads that a reader remembers: more than the maps hold, in any kernel. */
#define MOST (1u << 17)

#define EXITED_A_CPU 256 /* and 4096 at least: each CPU keeps some in hand */

/* A thread at the latest look. */
struct seen {
    uint64_t id;
    uint64_t key; /* of its row */
    uint64_t counters[PINNED_COUNTERS];
    struct hog_thread_name name;
    uint32_t tid;
    uint32_t look; /* the latest that it was in */
    bool exited;
};

/* Unique in a lifetime of the kernel: threads are not born twice in a microsecond with one number. */
static uint64_t id_of(const struct hog_thread *thread)
{
    return (uint64_t)thread->tid << 42 | (thread->born_ns >> 10 & ((UINT64_C(1) << 42) - 1));
}

static uint64_t key_of(const struct pinned_threads *p, const struct hog_thread *thread,
                       const struct hog_thread_name *name)
{
    if (p->context->options->threads)
        return key_make(thread->pid, thread->tid, thread->born_ns);
    return key_make(thread->pid, 0, name->process_born_ns);
}

/* Where it is at now, and what was added; where it was stays if it was further. */
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

/* One entry of either map. A thread may be in both while it goes over: then the later count is right. That is
 * the larger one, but for what was stolen from its last stint. */
static void see(struct pinned_threads *p, const void *key, const void *value, bool exited)
{
    struct hog_thread thread;
    uint64_t counters[PINNED_COUNTERS] = {0}, added[PINNED_COUNTERS];
    size_t known = p->table.n;

    memcpy(&thread, key, sizeof thread);
    struct seen *seen = hash_table_find_or_add(&p->table, id_of(&thread));
    if (!seen) {
        p->lost++;
        return;
    }
    p->kind->counters(value, p->now, counters);
    if (p->table.n > known && !p->look)
        memcpy(seen->counters, counters, sizeof counters);
    else if (counters[1] < seen->counters[1] && seen->look != p->look)
        memset(seen->counters, 0, sizeof seen->counters);
    memcpy(&seen->name, (const char *)value + p->kind->value_bytes - sizeof seen->name, sizeof seen->name);
    seen->key = key_of(p, &thread, &seen->name);
    seen->tid = thread.tid;
    seen->look = p->look;
    p->exits_seen += exited && !seen->exited && p->look;
    seen->exited = exited;
    if (subtract(seen->counters, counters, added))
        p->kind->did(p->state, seen->key, added, value);
}

static int see_living(void *context, const void *key, const void *value)
{
    see(context, key, value, false);
    return 0;
}

static int see_exited(void *context, const void *key, const void *value)
{
    see(context, key, value, true);
    return 0;
}

static bool is_current(const void *context, const void *entry)
{
    return ((const struct seen *)entry)->look == ((const struct pinned_threads *)context)->look;
}

static int look_at_cpus(struct pinned_threads *p, struct hog_exits *sums)
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

/* Threads that ended and were pushed out before we came by count as lost. The CPUs are looked at first, so
 * that no thread counts as missed which ends while we read; at the first look once more at its end, as those
 * are among the exited already. */
static int settle(struct pinned_threads *p, struct hog_exits *sums)
{
    int err = p->look ? 0 : look_at_cpus(p, sums);

    if (!p->look) {
        p->lost_before = sums->lost;
        p->exits_before = sums->exits;
    }
    uint64_t told = sums->exits - p->exits_before, known = p->exits_seen + p->exits_missed;
    uint64_t missed = told > known ? told - known : 0;
    p->exits_missed += missed;
    p->lost += missed + sums->lost - p->lost_before;
    p->lost_before = sums->lost;
    hash_table_keep(&p->table, is_current, p);
    p->look++;
    return err;
}

int pinned_threads_snapshot(struct pinned_threads *p, struct error *why)
{
    struct hog_exits sums;

    p->lost = 0;
    p->now = clock_ns(CLOCK_MONOTONIC) - (uint64_t)p->pinned.clock_offset;
    int err = look_at_cpus(p, &sums);
    if (err)
        return error_set(why, err, "reading pinned counts of CPUs: %s", error_name(err));
    /* The living first: whoever ends meanwhile is among the exited by then. */
    err = map_walk(p->threads, sizeof(struct hog_thread), p->kind->value_bytes, see_living, p, why);
    if (err >= 0)
        err = map_walk(p->exited, sizeof(struct hog_thread), p->kind->value_bytes, see_exited, p, why);
    if (err >= 0)
        err = settle(p, &sums);
    return err < 0 ? err : pinned_stands(&p->pinned, why);
}

/* A process is called as its first thread, or else as any other that is known. */
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
