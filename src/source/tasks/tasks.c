// SPDX-License-Identifier: GPL-2.0-only
#include "source/tasks/tasks.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "loader/kernel/embedded.h"
#include "host/names.h"
#include "host/pidns.h"
#include "host/process.h"
#include "loader/kernel/iterator.h"
#include "loader/kernel/target_file.h"
#include "source/sched/sched.h"
#include "source/shared/collector.h"
#include "source/shared/sources.h"
#include "source/tasks/proc.h"
#include "source/tasks/stuck.h"
#include "base/hash_table.h"
#include "tasks.types.h"

#define PRICE          400 /* a snapshot may take 1/PRICE of the time, */
#define MOST_PRICE     100 /* or 1/MOST_PRICE if there would be less than one a second */
#define SECOND         1000000000ull
#define MOST           16384 /* processes, and threads */
#define MOST_WANTED    1024
#define SNAPSHOTS_KEPT 16 /* entries are kept that long, in case they are wanted again */
#define RSS_UNKNOWN    UINT64_MAX

struct unit {
    uint64_t id;
    uint64_t at; /* CLOCK_MONOTONIC ns of the last snapshot with it */
    uint64_t snapshot, snapshot_before;
    struct hog_task_counts now, reported; /* reported: the maximum, as counts may drop for a moment */
    struct task_sums sums;
    uint64_t rss_before;
    uint64_t ran, ran_threads; /* run time of the busiest thread; threads with known run time */
    uint32_t noted;            /* threads */
    bool all_before;           /* the previous snapshot had all threads */
};

struct thread {
    uint64_t id;
    uint64_t ran, snapshot;
};

struct tasks {
    const struct source_context *context;
    struct collector collector;
    bool all;
    struct hash_table units, threads;
    struct task_sums outside;  /* all processes outside the PID namespace, one row */
    struct stuck_tasks *stuck; /* NULL: not looked for */
    struct hog_stuck_modes *stuck_modes;
    uint64_t *wanted;
    size_t nwanted;
    uint64_t snapshot;            /* number of the snapshot, from 1 */
    uint64_t begin, begin_boot;   /* its time: CLOCK_MONOTONIC, and the kernel's own CLOCK_BOOTTIME */
    uint64_t before, before_boot; /* the same of the previous snapshot; 0: none, or it was incomplete */
    uint64_t lost, threads_lost;
    uint64_t next; /* earliest time of the next snapshot */
    uint64_t used; /* CPU time that the last one took */
    int64_t boot_offset;
};

static const struct alternative tasks_iterators[] = {{"iter", "hog_tasks_stuck"}, {"iter", "hog_tasks"}};
static const struct alternative tasks_proc[] = {{"proc", "/proc"}};
static const struct hook_ways tasks_ways[] = {
    {"tasks", tasks_iterators, 2}, {"tasks", tasks_proc, 1}, {NULL, NULL, 0}};

/* ---- opening ---- */

static int tasks_load(struct tasks *t, struct hook_report *hook, struct error *why)
{
    const struct source_context *context = t->context;
    struct target_btf *target = NULL;
    struct error no_types = {""};

    int err = embedded_open(&t->collector.obj, "tasks", why);
    struct hog_keys *keys = err ? NULL : object_global(t->collector.obj, "keys", sizeof *keys);
    if (!keys)
        return err ? err : error_set(why, -EINVAL, "tasks: no constant keys");
    *keys =
        (struct hog_keys){.by_thread = context->options->threads, .pid_namespace = context->pidns->translate};
    err = target_btf_shared(&target, context->options->btf, &no_types);
    if (err && context->options->btf)
        return error_set(why, err, "%s", no_types.text);
    err = object_relocate(t->collector.obj, target, why);
    if (!err)
        err = object_create_maps(t->collector.obj, why);
    return err ? err
               : hook_attach(&t->collector, context, &t->collector.links[0], tasks_iterators, 2, hook, why);
}

static void tasks_close(void *state)
{
    struct tasks *t = state;

    if (t->all)
        collector_close(&t->collector);
    stuck_close(t->stuck);
    hash_table_free(&t->units);
    hash_table_free(&t->threads);
    free(t->wanted);
    free(t);
}

static int tasks_open(void **state, const struct source_context *context, unsigned needs,
                      struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    struct tasks *t = calloc(1, sizeof *t);
    struct hook_report *hook = hook_report(hooks, "tasks", false);
    const struct sched *sched = sched_of(context);
    /* sched makes keys without reading task_struct: those of an iterator differ. */
    bool by_proc = sched && !sched_knows_births(sched);
    struct error reason = {""};

    if (!t)
        return error_set(why, -ENOMEM, "out of memory");
    t->context = context;
    t->units = (struct hash_table){.size = sizeof(struct unit), .most = MOST};
    t->threads = (struct hash_table){.size = sizeof(struct thread), .most = MOST};
    t->boot_offset = namespace_offset("boottime");
    int err = by_proc ? error_set(&reason, -ENOTSUP, "keys of rows are made without reading task_struct")
                      : tasks_load(t, hook, &reason);
    if (err)
        collector_close(&t->collector);
    t->all = !err;
    if (t->all && hook->choice.chosen == tasks_iterators) {
        t->stuck = stuck_open();
        t->stuck_modes = object_global(t->collector.obj, "stuck_modes", sizeof *t->stuck_modes);
    }
    if (err && !pidns_is_of_proc(context->pidns)) {
        free(t);
        return error_set(why, err, "%s; and /proc cannot be used instead: its PIDs are not those of the rows",
                         reason.text);
    }
    if (err && !hook->choice.nrefused)
        hook_refused(hook, tasks_iterators[0].hook, err, &reason);
    if (err && hook_passed_over(context->options->without, tasks_proc[0].hook)) {
        free(t);
        error_set(why, -ECANCELED, "passed over by --without");
        hook_refused(hook, tasks_proc[0].hook, -ECANCELED, why);
        return -ECANCELED;
    }
    if (err)
        hook->hook = tasks_proc[0].hook;
    *state = t;
    return 0;
}

bool tasks_sees_all(const struct tasks *t)
{
    return t->all;
}

void tasks_want(struct tasks *t, uint64_t key)
{
    if (t->all || t->nwanted == MOST_WANTED)
        return;
    if (!t->wanted)
        t->wanted = malloc(MOST_WANTED * sizeof *t->wanted);
    if (t->wanted)
        t->wanted[t->nwanted++] = key;
}

/* ---- records ---- */

/* It was not in the previous, complete snapshot, or started since then: all its counts belong to this
 * interval. */
static bool is_new(const struct tasks *t, uint64_t born)
{
    return t->before && (t->all || born >= t->before_boot);
}

static void add_counts(struct hog_task_counts *sum, const struct hog_task_counts *more)
{
    sum->minor += more->minor;
    sum->major += more->major;
    sum->read_bytes += more->read_bytes;
    sum->write_bytes += more->write_bytes;
    sum->usr += more->usr;
    sum->sys += more->sys;
}

/* The first record of a unit in this snapshot. */
static void begin_unit(struct tasks *t, struct unit *unit, const struct hog_task *record)
{
    struct task_sums *sums = &unit->sums;
    bool is_born = !unit->snapshot && is_new(t, record->born);
    uint64_t age = t->begin_boot > record->born ? t->begin_boot - record->born : 1;
    uint64_t between = t->begin - t->before;

    if (unit->snapshot)
        sums->span_ns = t->begin - unit->at;
    else if (is_born)
        sums->span_ns = age < between ? age : between;
    unit->rss_before = sums->memory_known ? sums->rss_kib : is_born ? 0 : RSS_UNKNOWN;
    unit->all_before = unit->snapshot && unit->noted >= sums->threads;
    unit->snapshot_before = unit->snapshot;
    unit->snapshot = t->snapshot;
    unit->at = t->begin;
    unit->now = record->gone;
    unit->ran = unit->ran_threads = unit->noted = 0;
    sums->key = record->key;
    sums->threads = 0;
    sums->kernel = record->flags & HOG_TASK_KERNEL;
    sums->io_known = record->flags & HOG_TASK_IO;
    sums->memory_known = false;
}

static uint64_t pages_to_kib(int64_t pages)
{
    static long page;

    if (!page)
        page = sysconf(_SC_PAGESIZE) / 1024;
    return pages > 0 ? (uint64_t)pages * (uint64_t)page : 0;
}

static void note_memory(struct task_sums *sums, const struct hog_task *record)
{
    if (sums->memory_known || !(record->flags & HOG_TASK_MEMORY))
        return;
    sums->memory_known = true;
    sums->rss_kib = pages_to_kib(record->rss);
    sums->swap_kib = pages_to_kib(record->swap);
}

static void note_thread(struct tasks *t, struct unit *unit, const struct hog_task *record)
{
    struct thread *thread = hash_table_find_or_add(&t->threads, record->thread);

    if (!thread) {
        t->threads_lost++;
        return;
    }
    bool known = unit->snapshot_before ? unit->all_before : is_new(t, record->thread_born);
    if (thread->snapshot)
        known = thread->snapshot == unit->snapshot_before;
    uint64_t ran = record->ran > thread->ran ? record->ran - thread->ran : 0;
    if (known) {
        unit->ran_threads++;
        if (ran > unit->ran)
            unit->ran = ran;
    }
    unit->noted++;
    thread->ran = record->ran;
    thread->snapshot = t->snapshot;
}

_Static_assert(sizeof(struct hog_task) == sizeof(struct hog_stuck) &&
                   offsetof(struct hog_task, flags) == offsetof(struct hog_stuck, flags),
               "two kinds of records, told by their flags");

static void note_record(void *context, const void *one)
{
    struct tasks *t = context;
    const struct hog_task *record = one;
    if (record->flags & HOG_TASK_STUCK) {
        if (t->stuck)
            stuck_add(t->stuck, sched_of(t->context), one);
        return;
    }
    struct unit *unit = hash_table_find_or_add(&t->units, record->id);

    if (!unit) {
        t->lost++;
        return;
    }
    if (unit->snapshot != t->snapshot)
        begin_unit(t, unit, record);
    add_counts(&unit->now, &record->own);
    unit->sums.threads += record->threads;
    note_memory(&unit->sums, record);
    if (record->thread)
        note_thread(t, unit, record);
}

/* ---- a snapshot ---- */

static void read_proc(struct tasks *t)
{
    for (size_t i = 0; i < t->nwanted; i++)
        if (!tasks_find(t, t->wanted[i]))
            tasks_proc_read(t->wanted[i], note_record, t);
}

/* The growth above the reported maximum, which it raises. */
static uint64_t count_growth(uint64_t now, uint64_t *reported)
{
    uint64_t more = now > *reported ? now - *reported : 0;

    *reported += more;
    return more;
}

static void finish_unit(struct unit *unit)
{
    struct task_sums *sums = &unit->sums;

    if (!sums->span_ns)
        unit->reported = unit->now;
    sums->minor = count_growth(unit->now.minor, &unit->reported.minor);
    sums->major = count_growth(unit->now.major, &unit->reported.major);
    sums->read_bytes = count_growth(unit->now.read_bytes, &unit->reported.read_bytes);
    sums->write_bytes = count_growth(unit->now.write_bytes, &unit->reported.write_bytes);
    sums->usr_ns = count_growth(unit->now.usr, &unit->reported.usr);
    sums->sys_ns = count_growth(unit->now.sys, &unit->reported.sys);
    sums->rss_delta_kib = 0;
    if (sums->memory_known && unit->rss_before != RSS_UNKNOWN)
        sums->rss_delta_kib = (int64_t)(sums->rss_kib - unit->rss_before);
    sums->busiest_thread_pct = -1;
    if (sums->span_ns && unit->ran_threads) {
        double pct = 100.0 * (double)unit->ran / (double)sums->span_ns;
        sums->busiest_thread_pct = pct < 100 ? pct : 100;
    }
}

/* All processes outside the PID namespace are one row. */
static void add_outside(struct task_sums *outside, const struct task_sums *sums)
{
    bool first = !outside->key;

    outside->key = HOG_KEY_OUTSIDE;
    outside->minor += sums->minor;
    outside->major += sums->major;
    outside->read_bytes += sums->read_bytes;
    outside->write_bytes += sums->write_bytes;
    outside->usr_ns += sums->usr_ns;
    outside->sys_ns += sums->sys_ns;
    outside->rss_kib += sums->memory_known ? sums->rss_kib : 0;
    outside->swap_kib += sums->memory_known ? sums->swap_kib : 0;
    outside->rss_delta_kib += sums->rss_delta_kib;
    outside->threads += sums->threads;
    outside->io_known |= sums->io_known;
    outside->memory_known |= sums->memory_known;
    outside->kernel = (first || outside->kernel) && sums->kernel;
    if (outside->span_ns < sums->span_ns)
        outside->span_ns = sums->span_ns;
    if (first || outside->busiest_thread_pct < sums->busiest_thread_pct)
        outside->busiest_thread_pct = sums->busiest_thread_pct;
}

static bool is_kept(const struct tasks *t, uint64_t snapshot)
{
    return t->snapshot - snapshot <= (t->all ? 0 : SNAPSHOTS_KEPT);
}

static bool keeps_unit(const void *context, const void *entry)
{
    return is_kept(context, ((const struct unit *)entry)->snapshot);
}

static bool keeps_thread(const void *context, const void *entry)
{
    return is_kept(context, ((const struct thread *)entry)->snapshot);
}

static void finish_snapshot(struct tasks *t)
{
    hash_table_keep(&t->units, keeps_unit, t);
    hash_table_keep(&t->threads, keeps_thread, t);
    t->outside = (struct task_sums){0};
    for (size_t i = 0; i < t->units.n; i++) {
        struct unit *unit = hash_table_at(&t->units, i);
        if (unit->snapshot != t->snapshot)
            continue;
        finish_unit(unit);
        if (unit->sums.key == HOG_KEY_OUTSIDE)
            add_outside(&t->outside, &unit->sums);
    }
}

/* Starts over without history. */
static void forget_all(struct tasks *t)
{
    hash_table_free(&t->units);
    hash_table_free(&t->threads);
    t->outside = (struct task_sums){0};
    t->begin = 0;
}

/* Short windows may get no snapshot; one a second is taken if it costs at most 1/100 of the time. */
static uint64_t pause_after(uint64_t used)
{
    uint64_t cheap = PRICE * used, dear = MOST_PRICE * used;

    return cheap < SECOND ? cheap : dear > SECOND ? dear : SECOND - SECOND / 20;
}

int tasks_snapshot(struct tasks *t, uint64_t now)
{
    int err = 0;

    if (now < t->next) {
        t->nwanted = 0;
        return 0;
    }
    uint64_t used = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    t->before = t->lost || t->threads_lost ? 0 : t->begin;
    t->before_boot = t->begin_boot;
    t->begin = clock_ns(CLOCK_MONOTONIC);
    t->begin_boot = clock_ns(CLOCK_BOOTTIME) - (uint64_t)t->boot_offset;
    t->lost = t->threads_lost = 0;
    t->snapshot++;
    if (t->stuck)
        stuck_begin(t->stuck, t->begin);
    if (t->all)
        err = iterator_read(t->collector.links[0].fds[0], sizeof(struct hog_task), note_record, t);
    else
        read_proc(t);
    t->nwanted = 0;
    if (err)
        forget_all(t);
    else
        finish_snapshot(t);
    if (t->stuck)
        stuck_end(t->stuck, pidns_is_of_proc(t->context->pidns));
    if (t->stuck && t->stuck_modes)
        t->stuck_modes->readers = stuck_some_stopped(t->stuck);
    /* What is done once, as reading the kernel's symbols, makes a single snapshot dear: mostly the first. */
    used = clock_ns(CLOCK_THREAD_CPUTIME_ID) - used;
    t->next = t->begin + pause_after(t->used < used ? t->used : used);
    t->used = used;
    return err ? err : 1;
}

const struct task_sums *tasks_find(const struct tasks *t, uint64_t key)
{
    if (key == HOG_KEY_OUTSIDE)
        return t->outside.key ? &t->outside : NULL;
    const struct unit *unit = hash_table_find(&t->units, key);
    return unit && unit->snapshot == t->snapshot ? &unit->sums : NULL;
}

void tasks_each(const struct tasks *t, tasks_fn fn, void *context)
{
    for (size_t i = 0; i < t->units.n; i++) {
        const struct unit *unit = hash_table_at(&t->units, i);
        if (unit->snapshot == t->snapshot && unit->sums.key != HOG_KEY_OUTSIDE)
            fn(context, &unit->sums);
    }
    if (t->outside.key)
        fn(context, &t->outside);
}

/* Processes (threads with -t) that did not fit into the last snapshot. */
static uint64_t tasks_lost(void *state)
{
    return ((struct tasks *)state)->lost;
}

static void tasks_cost(void *state, struct program_cost *cost)
{
    struct tasks *t = state;

    if (t->all)
        collector_cost(&t->collector, cost);
}

struct tasks *tasks_of(const struct source_context *context)
{
    return source_state(context, &tasks_source);
}

struct stuck_tasks *tasks_stuck(const struct tasks *t)
{
    return t->stuck;
}

const struct source tasks_source = {
    .name = "tasks",
    .ways = tasks_ways,
    .open = tasks_open,
    .lost = tasks_lost,
    .cost = tasks_cost,
    .close = tasks_close,
};
