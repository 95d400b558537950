// SPDX-License-Identifier: GPL-2.0-only
#include "source/sched/open_slices.h"
#include <errno.h>
#include <stdlib.h>
#include "base/cpus.h"
#include "host/names.h"
#include "host/pidns.h"
#include "host/process.h"
#include "source/sched/cycles.h"

/* A timeslice, as the CPU recorded it. */
struct note {
    uint64_t key, since;
    uint64_t stolen;             /* ns; larger than the timeslice: not known */
    uint64_t cycles, cycles_end; /* the CPU's count at its begin, and at its end if it ended after the flip */
};

/* The task on a CPU at the last flip, and how much of its timeslice was credited until then. */
struct credit {
    uint64_t key; /* 0: idle */
    int64_t ns, stolen, cycles;
    struct note note;   /* identifies the timeslice */
    uint64_t confirmed; /* when /proc last showed the task running there; 0: not read */
    uint64_t doubted;   /* the key before confirm_running() made it KEY_UNSEEN; else 0 */
};

struct open_slices {
    const struct source_context *context;
    const struct sched_kernel *kernel;
    struct credit *credits; /* by possible CPU */
    struct note *reads;     /* by possible CPU */
    uint8_t *online;        /* by possible CPU */
    struct cpus_watch watch;
    bool proc_knows; /* /proc shows which tasks run */
};

int open_slices_open(struct open_slices **out, const struct source_context *context,
                     const struct sched_kernel *kernel, struct error *why)
{
    size_t cpus = (size_t)kernel->collector.sketch.shape.cpus;
    struct open_slices *r = *out = calloc(1, sizeof *r);

    if (!r)
        return error_set(why, -ENOMEM, "out of memory");
    r->context = context;
    r->kernel = kernel;
    r->credits = calloc(cpus, sizeof *r->credits);
    r->reads = calloc(cpus, sizeof *r->reads);
    r->online = calloc(cpus, 1);
    if (!r->credits || !r->reads || !r->online)
        return error_set(why, -ENOMEM, "out of memory");
    r->proc_knows = pidns_is_of_proc(context->pidns) && proc_tells_all();
    int err = cpus_watch_open(&r->watch);
    return err ? error_set(why, err, "cannot read " CPUS_ONLINE ": %s", error_name(err)) : 0;
}

void open_slices_close(struct open_slices *r)
{
    if (!r)
        return;
    free(r->credits);
    free(r->reads);
    free(r->online);
    cpus_watch_close(&r->watch);
    free(r);
}

const uint8_t *open_slices_online(const struct open_slices *r)
{
    return r->online;
}

uint64_t open_slices_on(const struct open_slices *r, int cpu, int64_t *ns)
{
    *ns = r->credits[cpu].ns;
    return r->credits[cpu].key;
}

/* Reads the record of the timeslice that was open at the flip. Consistent, unless STORES_OVERTAKE. */
static struct note read_note(const struct open_slices *r, int cpu)
{
    const volatile struct hog_cpu *c = sketch_head(&r->kernel->collector.sketch, cpu);
    uint32_t flip = sketch_now(&r->kernel->collector.sketch);
    struct note note;
    uint64_t seq;

    do {
        seq = c->pipe.seq;
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (c->pipe.flip == flip) {
            note.key = c->flip_cur;
            note.since = c->flip_since;
            note.stolen = c->flip_stolen;
            note.cycles = c->flip_cycles;
            note.cycles_end = c->flip_cycles_end;
        } else {
            note.key = c->cur;
            note.since = c->since;
            note.stolen = c->taken ? c->taken_now - c->taken : 0;
            note.cycles = c->cycles;
            note.cycles_end = UINT64_MAX;
        }
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
    } while (seq % 2 || c->pipe.seq != seq);
    return note;
}

static bool same_note(const struct note *a, const struct note *b)
{
    return a->key == b->key && a->since == b->since;
}

static bool same_read(const struct note *a, const struct note *b)
{
    return same_note(a, b) && a->stolen == b->stolen && a->cycles_end == b->cycles_end;
}

/* The first of two reads that must agree: see sketch_settle(). */
static void read_notes_first(struct open_slices *r)
{
    if (!STORES_OVERTAKE)
        return;
    for (int cpu = 0; cpu < r->kernel->collector.sketch.shape.cpus; cpu++)
        r->reads[cpu] = read_note(r, cpu);
    sketch_settle();
}

/* A third read is needed if the CPU's first event after the flip fell between the two; the record does not
 * change after that. */
static struct note note_at_flip(const struct open_slices *r, int cpu)
{
    struct note note = read_note(r, cpu), before = r->reads[cpu];

    while (STORES_OVERTAKE && !same_read(&note, &before)) {
        sketch_settle();
        before = note;
        note = read_note(r, cpu);
    }
    return note;
}

/* No CPU ever had stolen time: then there is almost certainly none now. */
static bool none_stolen(const struct open_slices *r)
{
    for (int cpu = 0; cpu < r->kernel->collector.sketch.shape.cpus; cpu++)
        if (((const volatile struct hog_cpu *)sketch_head(&r->kernel->collector.sketch, cpu))->taken)
            return false;
    return true;
}

/* Updates stolen time, so that a long timeslice loses it in each window, not all in its last one. */
static void update_stolen(const struct open_slices *r)
{
    if (!r->kernel->taken || none_stolen(r))
        return;
    for (uint64_t first = 0; first < (uint64_t)r->kernel->collector.sketch.shape.cpus;
         first += HOG_TAKEN_CPUS)
        program_run(r->kernel->taken, &first, 1, NULL);
}

int open_slices_begin(struct open_slices *r, struct error *why)
{
    int changed = cpus_watch(&r->watch, r->online, (size_t)r->kernel->collector.sketch.shape.cpus);

    if (changed < 0)
        return error_set(why, changed, "cannot read " CPUS_ONLINE ": %s", error_name(changed));
    update_stolen(r);
    read_notes_first(r);
    return 0;
}

/* Classic tracepoints give only the TID of the next task. */
static uint64_t complete_key(const struct open_slices *r, uint64_t noted)
{
    uint32_t thread = key_thread(noted), process;

    if (!noted || noted == KEY_UNSEEN || noted == HOG_KEY_OUTSIDE || key_process(noted))
        return noted;
    if (!pidns_is_of_proc(r->context->pidns) || process_of_thread(thread, &process))
        return KEY_UNSEEN;
    if (!r->context->options->threads)
        thread = 0;
    return key_make(process, thread, 0) | collector_birth(&r->kernel->collector, thread ? thread : process);
}

/* Whether /proc shows the recorded thread running on the CPU. After exec, a thread has the PID as its TID. */
static bool is_running(const struct open_slices *r, int cpu, uint64_t key)
{
    const volatile struct hog_cpu *c = sketch_head(&r->kernel->collector.sketch, cpu);
    struct process thread;
    int err = process_read(key_process(key), c->cur_thread, &thread);

    if (err == -ESRCH)
        err = process_read(key_process(key), 0, &thread);
    return err ? err != -ESRCH : thread.state == 'R' && thread.cpu == cpu;
}

/* The timeslice that was open at the flip has ended since: the next window contains its end. */
static bool has_ended(const struct open_slices *r, int cpu)
{
    const volatile struct hog_cpu *c = sketch_head(&r->kernel->collector.sketch, cpu);

    return c->pipe.flip == sketch_now(&r->kernel->collector.sketch);
}

/* A long timeslice either belongs to a task that keeps its CPU busy, or its end was not reported (some hosts
 * do not report every context switch). The latter must not be charged to a task, so check /proc now and then.
 * Check twice: a task that is about to switch out is not running any more, but its end is reported in a
 * moment. */
static void confirm_running(const struct open_slices *r, int cpu, struct credit *credit, uint64_t now)
{
    if (!key_process(credit->key) || credit->key == KEY_UNSEEN || credit->ns < 20000000 ||
        now - credit->confirmed < 100000000 || !r->proc_knows)
        return;
    credit->confirmed = now;
    for (int reads = 0; reads < 2; reads++)
        if (is_running(r, cpu, credit->key) || has_ended(r, cpu))
            return;
    credit->doubted = credit->key;
    credit->key = KEY_UNSEEN;
}

/* The timeslice has ended and is counted in full: subtracts its credit. If it was doubted and its end was
 * reported after all, what is not in `missed` (of the CPU in this window) is subtracted from the doubted key.
 */
static void subtract_credit(struct sched_sums *sums, const struct credit *credit, int64_t missed)
{
    int64_t doubted = credit->doubted && missed < credit->ns ? credit->ns - missed : 0;

    sums_add(sums, credit->doubted, -doubted, 0);
    sums_add(sums, credit->key, doubted - credit->ns, -credit->cycles);
}

/* Whether a CPU was offline at the flip. The list of CPUs is read a moment later: a CPU with an event since
 * then went offline after the flip, and an offline CPU stays offline until its next timeslice begins. */
static bool was_offline(const struct open_slices *r, int cpu, bool same)
{
    return same && r->credits[cpu].key == KEY_OFFLINE ? true : !r->online[cpu] && !has_ended(r, cpu);
}

#define SNAPSHOT_NS 100000000 /* the snapshot is taken within that time after the flip */

/* Stolen time of a timeslice of `ns` until the flip, of which `before` was already reported. It may include
 * time stolen after the flip. ns < 0, by the difference of two clocks: it has just begun. */
static int64_t stolen_until_flip(const struct note *note, int64_t ns, int64_t before)
{
    if (ns <= 0)
        return 0;
    int64_t stolen = note->key && note->stolen < (uint64_t)ns + SNAPSHOT_NS ? (int64_t)note->stolen : 0;
    stolen = stolen > before ? stolen : before;
    return stolen < ns ? stolen : ns;
}

/* Cycles of the timeslice that was open at the flip; if it has ended since, all of it. */
static int64_t cycles_until_flip(const struct open_slices *r, int cpu, const struct note *note)
{
    uint64_t count = note->cycles_end;

    if (count == UINT64_MAX && !cycles_now(r->kernel->cycles, cpu, &count))
        return 0;
    return count > note->cycles ? (int64_t)(count - note->cycles) : 0;
}

void open_slices_credit(struct open_slices *r, struct sched_sums *sums, int cpu, uint64_t now, int64_t missed)
{
    struct credit *before = &r->credits[cpu], after = {.note = note_at_flip(r, cpu)};
    bool same = same_note(&after.note, &before->note);

    after.ns = (int64_t)(now - after.note.since);
    after.cycles = r->kernel->cycles && after.note.key ? cycles_until_flip(r, cpu, &after.note) : 0;
    if (was_offline(r, cpu, same)) {
        /* The stop task keeps what it was credited before the list of CPUs showed the CPU offline. */
        after.key = KEY_OFFLINE;
        after.stolen = same ? before->stolen : 0;
        sums_add(sums, KEY_OFFLINE, same ? after.ns - before->ns - before->stolen : after.ns, 0);
    } else {
        after.stolen = stolen_until_flip(&after.note, after.ns, same ? before->stolen : 0);
        after.ns -= after.stolen;
        after.key = same ? before->key : complete_key(r, after.note.key);
        after.confirmed = same ? before->confirmed : 0;
        after.doubted = same ? before->doubted : 0;
        confirm_running(r, cpu, &after, now);
        sums_add(sums, after.key, after.ns, after.cycles);
        sums->all.totals.cpus++;
    }
    sums_add_stolen(sums, after.stolen - before->stolen);
    if (!same)
        subtract_credit(sums, before, missed);
    else if (after.key != KEY_OFFLINE)
        sums_add(sums, before->key, -before->ns, -before->cycles);
    *before = after;
}
