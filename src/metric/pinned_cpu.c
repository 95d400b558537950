// SPDX-License-Identifier: GPL-2.0-only
#include "metric/pinned_cpu.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "clock.h"
#include "host/cpus.h"
#include "host/targets.h"
#include "load/map_read.h"
#include "metric/pinned.h"
#include "metric/side.h"
#include "pin_cpu.types.h"
#include "sketch/table.h"
#include "syscall/bpf.h"

/* Threads that a reader remembers: more than the maps hold, in any kernel. */
#define MOST (1u << 17)

/* A thread at the latest look. */
struct seen {
    uint64_t id;
    uint64_t key; /* of its row */
    uint64_t run_ns, switches;
    uint32_t look; /* the latest that it was in */
    bool exited;
    struct hog_thread_name name;
    uint32_t tid;
};

/* Sums over all CPUs, ever. */
struct sums {
    uint64_t idle_ns, missed_ns, lost_ns, lost, switches, exits;
    unsigned online;
};

struct pinned_cpu {
    struct pinned pinned;
    const struct metric_context *context;
    int threads, exited, cpus; /* maps */
    struct hog_cpu_times *per_cpu;
    int possible;
    uint8_t *online;
    struct table table;
    uint32_t look;
    uint64_t now, before; /* this look and the one before, by the clock of the programs */
    struct sums sums;
    uint64_t exits_seen, exits_missed; /* since the first look */
    uint64_t exits_before;             /* the first look */
    uint64_t unseen;                   /* threads that found no room in our table */
    struct tally tally;
    struct oncpu_totals totals;
    int error;
    struct why why;
};

/* ---- looks ---- */

/* Unique in a lifetime of the kernel: threads are not born twice in a microsecond with one number. */
static uint64_t id_of(const struct hog_thread *thread)
{
    return (uint64_t)thread->tid << 42 | (thread->born_ns >> 10 & ((UINT64_C(1) << 42) - 1));
}

static uint64_t key_of(const struct pinned_cpu *p, const struct hog_thread *thread,
                       const struct hog_thread_name *name)
{
    if (p->context->options->threads)
        return key_make(thread->pid, thread->tid, thread->born_ns);
    return key_make(thread->pid, 0, name->process_born_ns);
}

/* A word that is negative while the time goes on. */
static uint64_t by_now(int64_t ns, uint64_t now)
{
    int64_t sum = ns < 0 ? ns + (int64_t)now : ns;

    return sum > 0 ? (uint64_t)sum : 0;
}

/* Stints that end while we read count up to then; what is too much or too little by that is made up for by
 * the next window. */
static uint64_t since(uint64_t now, uint64_t before)
{
    return now > before ? now - before : 0;
}

static void add(struct pinned_cpu *p, const struct seen *seen, uint64_t ns, uint64_t switches)
{
    const struct targets *targets = p->context->targets;

    if (targets->n && !targets_find(targets, seen->key)) {
        p->totals.other_ns += (int64_t)ns;
    } else if (tally_add(&p->tally, seen->key, (int64_t)ns, (int64_t)switches)) {
        p->totals.lost_ns += (int64_t)ns;
        p->totals.lost += switches;
    }
}

/* One entry of either map. A thread may be in both while it goes over: then the later count is right, which
 * is the larger one. Fewer switches than before: its count began anew. */
static int see(struct pinned_cpu *p, const struct hog_thread *thread, const struct hog_thread_time *time,
               bool exited)
{
    size_t known = p->table.n;
    struct seen *seen = table_find_or_add(&p->table, id_of(thread));
    uint64_t run = by_now(time->run_ns, p->now);

    if (!seen) {
        p->unseen++;
        return 0;
    }
    if (p->table.n > known && !p->look) {
        seen->run_ns = run;
        seen->switches = time->switches;
    } else if (time->switches < seen->switches && seen->look != p->look) {
        seen->run_ns = seen->switches = 0;
    }
    seen->key = key_of(p, thread, &time->name);
    seen->tid = thread->tid;
    seen->name = time->name;
    seen->look = p->look;
    p->exits_seen += exited && !seen->exited && p->look;
    seen->exited = exited;
    add(p, seen, since(run, seen->run_ns), since(time->switches, seen->switches));
    seen->run_ns = run > seen->run_ns ? run : seen->run_ns;
    seen->switches = time->switches > seen->switches ? time->switches : seen->switches;
    return 0;
}

static int see_living(void *context, const void *key, const void *value)
{
    struct hog_thread thread;
    struct hog_thread_time time;

    memcpy(&thread, key, sizeof thread);
    memcpy(&time, value, sizeof time);
    return see(context, &thread, &time, false);
}

static int see_exited(void *context, const void *key, const void *value)
{
    struct hog_thread thread;
    struct hog_thread_time time;

    memcpy(&thread, key, sizeof thread);
    memcpy(&time, value, sizeof time);
    return see(context, &thread, &time, true);
}

static bool is_current(const void *context, const void *entry)
{
    const struct pinned_cpu *p = context;

    return ((const struct seen *)entry)->look == p->look;
}

static int look_at_cpus(struct pinned_cpu *p, struct sums *sums)
{
    uint32_t zero = 0;
    int err = sys_bpf_map_lookup(p->cpus, &zero, p->per_cpu);
    int online = cpus_online(p->online, (size_t)p->possible);

    *sums = (struct sums){.online = online > 0 ? (unsigned)online : 0};
    for (int i = 0; i < p->possible && !err; i++) {
        const struct hog_cpu_times *cpu = &p->per_cpu[i];
        sums->idle_ns += by_now(cpu->idle_ns, p->now);
        sums->missed_ns += cpu->missed_ns;
        sums->lost_ns += cpu->lost_ns;
        sums->lost += cpu->lost;
        sums->switches += cpu->switches;
        sums->exits += cpu->exits;
    }
    return err;
}

/* Threads that ended and were pushed out before we came by. The CPUs are looked at first, so that no thread
 * counts as missed which ends while we read. */
static uint64_t missed_exits(struct pinned_cpu *p, const struct sums *sums)
{
    uint64_t told = sums->exits - p->exits_before, missed;

    missed = since(told, p->exits_seen + p->exits_missed);
    p->exits_missed += missed;
    return missed;
}

static void settle(struct pinned_cpu *p, const struct sums *sums)
{
    const struct sums *before = &p->sums;
    struct oncpu_totals *totals = &p->totals;

    totals->idle_ns = (int64_t)since(sums->idle_ns, before->idle_ns);
    totals->missed_ns = (int64_t)since(sums->missed_ns, before->missed_ns);
    totals->lost_ns += (int64_t)since(sums->lost_ns, before->lost_ns);
    totals->lost += since(sums->lost, before->lost) + missed_exits(p, sums) + p->unseen;
    totals->switches = since(sums->switches, before->switches);
    totals->cpus = sums->online;
    p->sums = *sums;
}

static int look(struct pinned_cpu *p, struct why *w)
{
    struct sums sums;
    const size_t key = sizeof(struct hog_thread), value = sizeof(struct hog_thread_time);

    tally_clear(&p->tally);
    p->totals = (struct oncpu_totals){0};
    p->unseen = 0;
    p->now = clock_ns(CLOCK_MONOTONIC) - (uint64_t)p->pinned.clock_offset;
    int err = look_at_cpus(p, &sums);
    if (err)
        return why(w, err, "reading the pinned counts of all CPUs: %s", why_errno(err));
    /* The living first: whoever ends meanwhile is among the exited by then. */
    err = map_walk(p->threads, key, value, see_living, p, w);
    if (err >= 0)
        err = map_walk(p->exited, key, value, see_exited, p, w);
    if (err < 0)
        return err;
    if (!p->look) { /* whoever ended before now may be among the exited already */
        struct sums after;
        look_at_cpus(p, &after);
        p->exits_before = after.exits;
    }
    settle(p, &sums);
    table_keep(&p->table, is_current, p);
    p->look++;
    return 0;
}

void pinned_cpu_turn(struct pinned_cpu *p)
{
    p->error = look(p, &p->why);
    if (!p->error)
        p->error = pinned_stands(&p->pinned, &p->why);
}

int pinned_cpu_collect(struct pinned_cpu *p, struct why *w)
{
    if (p->error)
        *w = p->why;
    return p->error;
}

/* ---- what they say ---- */

const struct tally *pinned_cpu_tally(const struct pinned_cpu *p)
{
    return &p->tally;
}

const struct oncpu_totals *pinned_cpu_totals(const struct pinned_cpu *p)
{
    return &p->totals;
}

/* A process is called as its first thread, or else as any other that is known. */
static bool name_of_dead(void *context, uint64_t key, struct name *name)
{
    const struct pinned_cpu *p = context;
    const struct seen *best = NULL;

    for (size_t i = 0; i < p->table.n; i++) {
        const struct seen *seen = table_at(&p->table, i);
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

const struct name *pinned_cpu_name(struct pinned_cpu *p, uint64_t key, uint64_t now)
{
    return names_find(p->context->names, key, now, name_of_dead, p);
}

/* ---- open, close ---- */

int pinned_cpu_open(struct pinned_cpu **out, const struct metric_context *context, struct why *w)
{
    struct pinned_cpu *p = calloc(1, sizeof *p);
    int possible = cpus_possible();

    if (!p)
        return why(w, -ENOMEM, "out of memory");
    p->context = context;
    p->table = (struct table){.size = sizeof(struct seen), .most = MOST};
    p->possible = possible;
    int err = possible < 0
                  ? why(w, possible, "cannot read the list of possible CPUs: %s", why_errno(possible))
                  : pinned_open(&p->pinned, "pin_cpu", "cpu", context, w);
    if (!err) {
        p->threads = object_map(p->pinned.obj, "hog_threads")->fd;
        p->exited = object_map(p->pinned.obj, "hog_exited")->fd;
        p->cpus = object_map(p->pinned.obj, "hog_cpus")->fd;
        p->per_cpu = calloc((size_t)possible, sizeof *p->per_cpu);
        p->online = calloc((size_t)possible, 1);
        if (!p->per_cpu || !p->online)
            err = why(w, -ENOMEM, "out of memory");
    }
    if (err) {
        pinned_cpu_close(p);
        return err;
    }
    *out = p;
    return 0;
}

void pinned_cpu_close(struct pinned_cpu *p)
{
    if (!p)
        return;
    pinned_close(&p->pinned);
    table_free(&p->table);
    tally_free(&p->tally);
    free(p->per_cpu);
    free(p->online);
    free(p);
}
