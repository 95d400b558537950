// SPDX-License-Identifier: GPL-2.0-only
#include "source/sched/open_slices.h"
#include <errno.h>
#include <stdlib.h>
#include "base/cpus.h"
#include "host/names.h"
#include "host/pidns.h"
#include "host/process.h"
#include "source/sched/cycles.h"

/* A stint, as the CPU notes it. */
struct note {
    uint64_t key, since;
    uint64_t stolen; /* ns of it, as far as known; more than it has: not known */
    uint64_t cycles,
        cycles_end; /* the CPU's count at its begin, and at its end, if that came since the turn */
};

/* Who was on a CPU at the last turn, and how much of his stint the window before has had. */
struct credit {
    uint64_t key; /* 0: idle */
    int64_t ns, stolen, cycles;
    struct note note;   /* to see that it is the same stint still */
    uint64_t confirmed; /* when /proc last said that he is running there; 0: not asked */
    uint64_t doubted;   /* whose it was before confirm() made it KEY_UNSEEN; else 0 */
};

struct open_slices {
    const struct source_context *context;
    const struct sched_kernel *kernel;
    struct credit *credits; /* a possible CPU */
    struct note *looks;     /* a possible CPU */
    uint8_t *online;        /* a possible CPU */
    struct cpus_watch watch;
    bool proc_knows; /* whether /proc may be asked who runs */
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
    r->looks = calloc(cpus, sizeof *r->looks);
    r->online = calloc(cpus, 1);
    if (!r->credits || !r->looks || !r->online)
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
    free(r->looks);
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

/* What one CPU noted of the stint that was running at the turn. Whole, unless STORES_OVERTAKE. */
static struct note look(const struct open_slices *r, int cpu)
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

static bool same_look(const struct note *a, const struct note *b)
{
    return same_note(a, b) && a->stolen == b->stolen && a->cycles_end == b->cycles_end;
}

/* The first of two looks that must agree: see sketch_settle(). */
static void look_at_all(struct open_slices *r)
{
    if (!STORES_OVERTAKE)
        return;
    for (int cpu = 0; cpu < r->kernel->collector.sketch.shape.cpus; cpu++)
        r->looks[cpu] = look(r, cpu);
    sketch_settle();
}

/* A third look is for a CPU whose first event after the turn came between two. Then its note stands. */
static struct note noted_at_flip(const struct open_slices *r, int cpu)
{
    struct note note = look(r, cpu), before = r->looks[cpu];

    while (STORES_OVERTAKE && !same_look(&note, &before)) {
        sketch_settle();
        before = note;
        note = look(r, cpu);
    }
    return note;
}

/* Nothing has been taken from any CPU, ever: then nothing is now, nearly always. */
static bool none_taken(const struct open_slices *r)
{
    for (int cpu = 0; cpu < r->kernel->collector.sketch.shape.cpus; cpu++)
        if (((const volatile struct hog_cpu *)sketch_head(&r->kernel->collector.sketch, cpu))->taken)
            return false;
    return true;
}

/* So that a stint which lasts gives up what was stolen in each window, not in its last one. */
static void ask_what_is_taken(const struct open_slices *r)
{
    if (!r->kernel->taken || none_taken(r))
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
    ask_what_is_taken(r);
    look_at_all(r);
    return 0;
}

/* Classic tracepoints tell the thread id alone of who comes. */
static uint64_t whole_key(const struct open_slices *r, uint64_t noted)
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

/* Whether the thread that a CPU noted is on it, by /proc. One that has called exec bears its process's
 * number. */
static bool is_running(const struct open_slices *r, int cpu, uint64_t key)
{
    const volatile struct hog_cpu *c = sketch_head(&r->kernel->collector.sketch, cpu);
    struct process thread;
    int err = process_read(key_process(key), c->cur_thread, &thread);

    if (err == -ESRCH)
        err = process_read(key_process(key), 0, &thread);
    return err ? err != -ESRCH : thread.state == 'R' && thread.cpu == cpu;
}

/* The end of the stint that ran at the turn is reported: it comes with the next window. */
static bool has_ended(const struct open_slices *r, int cpu)
{
    const volatile struct hog_cpu *c = sketch_head(&r->kernel->collector.sketch, cpu);

    return c->pipe.flip == sketch_now(&r->kernel->collector.sketch);
}

/* A stint that lasts is either that of a thread which needs its CPU for itself, or one whose end was not
 * reported (some hosts do not report every switch). Nobody may be blamed for the latter: ask now and then.
 * And look twice: who is about to leave does not look like running any more, and is reported in a moment. */
static void confirm(const struct open_slices *r, int cpu, struct credit *open_slices, uint64_t now)
{
    if (!key_process(open_slices->key) || open_slices->key == KEY_UNSEEN || open_slices->ns < 20000000 ||
        now - open_slices->confirmed < 100000000 || !r->proc_knows)
        return;
    open_slices->confirmed = now;
    for (int looks = 0; looks < 2; looks++)
        if (is_running(r, cpu, open_slices->key) || has_ended(r, cpu))
            return;
    open_slices->doubted = open_slices->key;
    open_slices->key = KEY_UNSEEN;
}

/* The stint has ended, or is counted anew: what it got is taken back. One that was doubted and is reported
 * after all, not missed (`missed`: the CPU's in the window), takes it from whose it is. */
static void take_back(struct sched_sums *sums, const struct credit *credit, int64_t missed)
{
    int64_t doubted = credit->doubted && missed < credit->ns ? credit->ns - missed : 0;

    sums_add(sums, credit->doubted, -doubted, 0);
    sums_add(sums, credit->key, doubted - credit->ns, -credit->cycles);
}

/* Whether a CPU was offline at the turn. The list was read some moments later: a CPU that has reported since
 * went offline after the turn, and one that was offline is so until its next stint begins, its first thing
 * then. */
static bool was_offline(const struct open_slices *r, int cpu, bool same)
{
    return same && r->credits[cpu].key == KEY_OFFLINE ? true : !r->online[cpu] && !has_ended(r, cpu);
}

#define LOOK_NS 100000000 /* within that, a reader has looked after a turn */

/* Of a stint of `ns` until the turn, of which `before` was said. What was taken since the turn may be in it.
 * Below zero, by the difference of two clocks: it has just begun. */
static int64_t stolen_of(const struct note *note, int64_t ns, int64_t before)
{
    if (ns <= 0)
        return 0;
    int64_t stolen = note->key && note->stolen < (uint64_t)ns + LOOK_NS ? (int64_t)note->stolen : 0;
    stolen = stolen > before ? stolen : before;
    return stolen < ns ? stolen : ns;
}

/* Of the stint that ran at the turn; if it has ended since, all of it. */
static int64_t cycles_until_flip(const struct open_slices *r, int cpu, const struct note *note)
{
    uint64_t count = note->cycles_end;

    if (count == UINT64_MAX && !cycles_now(r->kernel->cycles, cpu, &count))
        return 0;
    return count > note->cycles ? (int64_t)(count - note->cycles) : 0;
}

void open_slices_credit(struct open_slices *r, struct sched_sums *sums, int cpu, uint64_t now, int64_t missed)
{
    struct credit *before = &r->credits[cpu], after = {.note = noted_at_flip(r, cpu)};
    bool same = same_note(&after.note, &before->note);

    after.ns = (int64_t)(now - after.note.since);
    after.cycles = r->kernel->cycles && after.note.key ? cycles_until_flip(r, cpu, &after.note) : 0;
    if (was_offline(r, cpu, same)) {
        /* Its stop task keeps what it got until the list of CPUs showed that it had stopped. */
        after.key = KEY_OFFLINE;
        after.stolen = same ? before->stolen : 0;
        sums_add(sums, KEY_OFFLINE, same ? after.ns - before->ns - before->stolen : after.ns, 0);
    } else {
        after.stolen = stolen_of(&after.note, after.ns, same ? before->stolen : 0);
        after.ns -= after.stolen;
        after.key = same ? before->key : whole_key(r, after.note.key);
        after.confirmed = same ? before->confirmed : 0;
        after.doubted = same ? before->doubted : 0;
        confirm(r, cpu, &after, now);
        sums_add(sums, after.key, after.ns, after.cycles);
        sums->all.totals.cpus++;
    }
    sums_add_stolen(sums, after.stolen - before->stolen);
    if (!same)
        take_back(sums, before, missed);
    else if (after.key != KEY_OFFLINE)
        sums_add(sums, before->key, -before->ns, -before->cycles);
    *before = after;
}
