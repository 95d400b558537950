// SPDX-License-Identifier: GPL-2.0-only
#include "metric/oncpu.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cpu.types.h"
#include "host/cpus.h"
#include "host/numbering.h"
#include "host/process.h"
#include "host/targets.h"
#include "load/map_read.h"
#include "metric/dead.h"
#include "metric/waits.h"
#include "metric/oncpu_load.h"

#define KEY_OFFLINE (UINT64_MAX - 1) /* nobody is on the CPU */

/* A stint, as the CPU notes it. */
struct note {
    uint64_t key, since;
};

/* Who was on a CPU at the last turn, and how much of his stint the window before has had. */
struct credit {
    uint64_t key; /* 0: idle */
    int64_t ns;
    struct note note;   /* to see that it is the same stint still */
    uint64_t confirmed; /* when /proc last said that he is running there; 0: not asked */
    uint64_t doubted;   /* whose it was before confirm() made it KEY_UNSEEN; else 0 */
};

struct oncpu {
    const struct metric_context *context;
    struct oncpu_kernel kernel;
    struct waits *waits; /* NULL: waits are not counted */
    unsigned views;      /* that share it */
    unsigned shown, costed;
    bool turned; /* and not collected yet */
    int collected;
    struct hook_report hooks[MAX_HOOKS];
    struct credit *credits; /* a possible CPU */
    struct note *looks;     /* a possible CPU */
    uint8_t *online;
    struct cpus_watch watch;
    struct tally tally;
    struct oncpu_totals totals;
    const uint16_t *part_of; /* NULL: not asked for by parts */
    struct oncpu_part *parts;
    size_t nparts;
    struct oncpu_part *part;   /* of the CPU that is being collected; or NULL */
    uint64_t lost, waits_lost; /* that no view has told of yet */
    uint64_t events;           /* of all CPUs, ever */
    bool proc_knows;           /* whether /proc may be asked who runs */
};

static unsigned needs_of(const struct options *options)
{
    unsigned needs = 0;

    for (size_t i = 0; i < options->nviews; i++) {
        if (!strcmp(options->views[i], "contention"))
            needs |= ONCPU_WAITS | ONCPU_PAIRS | ONCPU_STRICT;
        if (!strcmp(options->views[i], "cpu"))
            needs |= ONCPU_WAITS | ONCPU_TIMES;
        if (!strcmp(options->views[i], "top"))
            needs |= ONCPU_WAITS | ONCPU_PAIRS | ONCPU_TIMES | ONCPU_STALLS;
    }
    return needs;
}

static int make_room(struct oncpu *o)
{
    size_t cpus = (size_t)o->kernel.side.sketch.shape.cpus;

    o->credits = calloc(cpus, sizeof *o->credits);
    o->looks = calloc(cpus, sizeof *o->looks);
    o->online = calloc(cpus, 1);
    if (o->kernel.waits)
        o->waits = waits_open(&o->kernel);
    return o->credits && o->looks && o->online && (o->waits || !o->kernel.waits) ? 0 : -ENOMEM;
}

/* The views of a run share one, so that there is one program at each switch. */
static bool join(struct oncpu **out, const struct metric_context *context, struct hook_report *hooks)
{
    struct oncpu *o = context->oncpu ? *context->oncpu : NULL;

    if (!o)
        return false;
    if (hooks)
        memcpy(hooks, o->hooks, sizeof o->hooks);
    o->views++;
    *out = o;
    return true;
}

int oncpu_open(struct oncpu **out, const struct metric_context *context, unsigned needs,
               struct hook_report hooks[MAX_HOOKS], struct why *w)
{
    if (join(out, context, hooks))
        return 0;
    struct oncpu *o = calloc(1, sizeof *o);
    if (!o)
        return why(w, -ENOMEM, "out of memory");
    o->context = context;
    o->views = 1;
    o->kernel.needs = needs | needs_of(context->options);
    int err = oncpu_load(&o->kernel, context, o->hooks, w);
    if (hooks)
        memcpy(hooks, o->hooks, sizeof o->hooks);
    if (!err && make_room(o))
        err = why(w, -ENOMEM, "out of memory");
    if (!err && (err = cpus_watch_open(&o->watch)))
        why(w, err, "cannot read " CPUS_ONLINE ": %s", why_errno(err));
    if (err) {
        oncpu_close(o);
        return err;
    }
    o->proc_knows = numbering_is_of_proc(context->numbering) && proc_tells_all();
    if (context->oncpu)
        *context->oncpu = o;
    *out = o;
    return 0;
}

void oncpu_close(struct oncpu *o)
{
    if (!o || --o->views)
        return;
    if (o->context->oncpu)
        *o->context->oncpu = NULL;
    waits_close(o->waits);
    side_close(&o->kernel.side);
    tally_free(&o->tally);
    free(o->credits);
    free(o->looks);
    free(o->online);
    for (size_t i = 0; i < o->nparts; i++)
        tally_free(&o->parts[i].tally);
    free(o->parts);
    cpus_watch_close(&o->watch);
    free(o);
}

int oncpu_split(struct oncpu *o, const uint16_t *part_of, size_t n)
{
    if (o->kernel.side.exact)
        return -ENOTSUP;
    if (o->parts)
        return o->nparts == n ? 0 : -EBUSY;
    o->parts = calloc(n, sizeof *o->parts);
    if (!o->parts)
        return -ENOMEM;
    o->part_of = part_of;
    o->nparts = n;
    return 0;
}

const struct oncpu_part *oncpu_part(const struct oncpu *o, size_t i)
{
    return i < o->nparts ? &o->parts[i] : NULL;
}

/* The first view that asks turns and collects for all. */
void oncpu_turn(struct oncpu *o)
{
    if (o->turned)
        return;
    o->turned = true;
    sketch_turn(&o->kernel.side.sketch);
}

/* ---- the stints that were running at the turn ---- */

/* What one CPU noted of the stint that was running at the turn. Whole, unless STORES_OVERTAKE. */
static struct note look(const struct oncpu *o, int cpu)
{
    const volatile struct hog_cpu *c = sketch_head(&o->kernel.side.sketch, cpu);
    uint32_t turn = sketch_now(&o->kernel.side.sketch);
    struct note note;
    uint64_t seq;

    do {
        seq = c->pipe.seq;
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (c->pipe.turn == turn) {
            note.key = c->turn_cur;
            note.since = c->turn_since;
        } else {
            note.key = c->cur;
            note.since = c->since;
        }
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
    } while (seq % 2 || c->pipe.seq != seq);
    return note;
}

static bool same_note(const struct note *a, const struct note *b)
{
    return a->key == b->key && a->since == b->since;
}

/* The first of two looks that must agree: see sketch_settle(). */
static void look_at_all(struct oncpu *o)
{
    if (!STORES_OVERTAKE)
        return;
    for (int cpu = 0; cpu < o->kernel.side.sketch.shape.cpus; cpu++)
        o->looks[cpu] = look(o, cpu);
    sketch_settle();
}

/* A third look is for a CPU whose first event after the turn came between two. Then its note stands. */
static struct note noted_at_turn(const struct oncpu *o, int cpu)
{
    struct note note = look(o, cpu), before = o->looks[cpu];

    while (STORES_OVERTAKE && !same_note(&note, &before)) {
        sketch_settle();
        before = note;
        note = look(o, cpu);
    }
    return note;
}

/* Classic tracepoints tell the thread id alone of who comes. */
static uint64_t whole_key(const struct oncpu *o, uint64_t noted)
{
    uint32_t thread = key_thread(noted), process;

    if (!noted || noted == KEY_UNSEEN || noted == HOG_KEY_OUTSIDE || key_process(noted))
        return noted;
    if (!numbering_is_of_proc(o->context->numbering) || process_of_thread(thread, &process))
        return KEY_UNSEEN;
    if (!o->context->options->threads)
        thread = 0;
    return key_make(process, thread, 0) | side_birth(&o->kernel.side, thread ? thread : process);
}

/* Whether the thread that a CPU noted is on it, by /proc. One that has called exec bears its process's
 * number. */
static bool is_running(const struct oncpu *o, int cpu, uint64_t key)
{
    const volatile struct hog_cpu *c = sketch_head(&o->kernel.side.sketch, cpu);
    struct process thread;
    int err = process_read(key_process(key), c->cur_thread, &thread);

    if (err == -ESRCH)
        err = process_read(key_process(key), 0, &thread);
    return err ? err != -ESRCH : thread.state == 'R' && thread.cpu == cpu;
}

/* The end of the stint that ran at the turn is reported: it comes with the next window. */
static bool has_ended(const struct oncpu *o, int cpu)
{
    const volatile struct hog_cpu *c = sketch_head(&o->kernel.side.sketch, cpu);

    return c->pipe.turn == sketch_now(&o->kernel.side.sketch);
}

/* A stint that lasts is either that of a thread which needs its CPU for itself, or one whose end was not
 * reported (some hosts do not report every switch). Nobody may be blamed for the latter: ask now and then.
 * And look twice: who is about to leave does not look like running any more, and is reported in a moment. */
static void confirm(const struct oncpu *o, int cpu, struct credit *running, uint64_t now)
{
    if (!key_process(running->key) || running->key == KEY_UNSEEN || running->ns < 20000000 ||
        now - running->confirmed < 100000000 || !o->proc_knows)
        return;
    running->confirmed = now;
    for (int looks = 0; looks < 2; looks++)
        if (is_running(o, cpu, running->key) || has_ended(o, cpu))
            return;
    running->doubted = running->key;
    running->key = KEY_UNSEEN;
}

static int64_t *sum_of(struct oncpu_totals *totals, uint64_t key)
{
    return !key ? &totals->idle_ns : key == KEY_UNSEEN ? &totals->missed_ns : &totals->offline_ns;
}

static void add_to(struct tally *tally, struct oncpu_totals *totals, uint64_t key, int64_t ns,
                   int64_t switches)
{
    if (tally_add(tally, key, ns, switches)) {
        totals->lost_ns += ns;
        totals->lost += (uint64_t)switches;
    }
}

static void add(struct oncpu *o, uint64_t key, int64_t ns, int64_t switches)
{
    if (!key || key == KEY_UNSEEN || key == KEY_OFFLINE) {
        *sum_of(&o->totals, key) += ns;
        if (o->part)
            *sum_of(&o->part->totals, key) += ns;
    } else if (o->context->targets->n && !targets_find(o->context->targets, key)) {
        o->totals.other_ns += ns;
        if (o->part)
            o->part->totals.other_ns += ns;
    } else {
        add_to(&o->tally, &o->totals, key, ns, switches);
        if (o->part)
            add_to(&o->part->tally, &o->part->totals, key, ns, switches);
    }
}

/* The stint has ended, or is counted anew: what it got is taken back. One that was doubted and is reported
 * after all, not missed (`missed`: the CPU's in the window), takes it from whose it is. */
static void take_back(struct oncpu *o, const struct credit *credit, int64_t missed)
{
    int64_t doubted = credit->doubted && missed < credit->ns ? credit->ns - missed : 0;

    add(o, credit->doubted, -doubted, 0);
    add(o, credit->key, doubted - credit->ns, 0);
}

/* Whether a CPU was offline at the turn. The list was read some moments later: a CPU that has reported since
 * went offline after the turn, and one that was offline is so until its next stint begins, its first thing
 * then. */
static bool was_offline(const struct oncpu *o, int cpu, bool same)
{
    return same && o->credits[cpu].key == KEY_OFFLINE ? true : !o->online[cpu] && !has_ended(o, cpu);
}

/* missed: ns that the window's switches on this CPU did not name anybody for. */
static void credit_running(struct oncpu *o, int cpu, uint64_t now, int64_t missed)
{
    struct credit *before = &o->credits[cpu], after = {.note = noted_at_turn(o, cpu)};
    bool same = same_note(&after.note, &before->note);

    after.ns = (int64_t)(now - after.note.since);
    if (was_offline(o, cpu, same)) {
        /* Its stop task keeps what it got until the list of CPUs showed that it had stopped. */
        after.key = KEY_OFFLINE;
        add(o, KEY_OFFLINE, same ? after.ns - before->ns : after.ns, 0);
    } else {
        after.key = same ? before->key : whole_key(o, after.note.key);
        after.confirmed = same ? before->confirmed : 0;
        after.doubted = same ? before->doubted : 0;
        confirm(o, cpu, &after, now);
        add(o, after.key, after.ns, 0);
        o->totals.cpus++;
    }
    if (!same)
        take_back(o, before, missed);
    else if (after.key != KEY_OFFLINE)
        add(o, before->key, -before->ns, 0);
    *before = after;
}

/* ---- the stints that ended in the window ---- */

static void ran(const struct oncpu *o, uint64_t key, int64_t ns)
{
    if (o->waits && !o->kernel.side.exact && key && key != KEY_UNSEEN && key != KEY_OFFLINE)
        waits_ran(o->waits, key, ns);
}

static void add_slot(void *context, const struct hog_slot *slot)
{
    ran(context, slot->key, (int64_t)slot->weight);
    add(context, slot->key, (int64_t)slot->weight, (int64_t)slot->count);
}

static int add_exact(void *context, const void *key, const void *value)
{
    struct hog_time time;
    uint64_t k;

    memcpy(&k, key, sizeof k);
    memcpy(&time, value, sizeof time);
    add(context, k, (int64_t)time.ns, (int64_t)time.switches);
    return 0;
}

/* What the programs themselves added up. */
static void add_bank(struct oncpu_totals *totals, const struct hog_cpu *c, unsigned bank, int64_t lost_ns)
{
    totals->lost_ns += lost_ns;
    totals->idle_ns += (int64_t)c->idle[bank];
    totals->other_ns += (int64_t)c->other[bank];
    totals->missed_ns += (int64_t)c->missed[bank];
    totals->offline_ns += (int64_t)c->offline[bank];
}

static void collect_cpu(struct oncpu *o, int cpu, uint64_t now)
{
    const struct sketch *sketch = &o->kernel.side.sketch;
    struct hog_cpu *c = sketch_head(sketch, cpu);
    unsigned bank = (sketch_now(sketch) - 1) & 1;
    uint64_t lost_ns = 0;
    int64_t missed = (int64_t)c->missed[bank];

    o->part = o->parts ? &o->parts[o->part_of[cpu]] : NULL;
    if (!o->kernel.side.exact)
        sketch_drain(sketch, cpu, add_slot, o);
    sketch_lost(sketch, cpu, &lost_ns, &o->totals.lost);
    add_bank(&o->totals, c, bank, (int64_t)lost_ns);
    if (o->part)
        add_bank(&o->part->totals, c, bank, (int64_t)lost_ns);
    c->idle[bank] = c->other[bank] = c->missed[bank] = c->offline[bank] = 0;
    o->totals.switches += c->events;
    ran(o, o->credits[cpu].key, -o->credits[cpu].ns);
    credit_running(o, cpu, now, missed);
    ran(o, o->credits[cpu].key, o->credits[cpu].ns);
    if (o->waits)
        waits_cpu(o->waits, cpu);
}

/* A stint that was credited while it ran, and whose end the sketch dropped or nobody saw, leaves a negative
 * sum behind: it comes off what was lost or missed. */
static void settle_debts(struct tally *tally, struct oncpu_totals *totals)
{
    for (size_t i = 0; i < tally->capacity; i++) {
        struct tally_entry *entry = &tally->table[i];
        if (entry->key && entry->weight < 0) {
            int64_t debt = -entry->weight, lost = debt < totals->lost_ns ? debt : totals->lost_ns;
            totals->lost_ns -= lost;
            totals->missed_ns -= debt - lost;
            entry->weight = 0;
        }
    }
    /* Where the programs cannot know a stop task, they miss what passes while the CPU is offline. */
    if (totals->offline_ns < 0) {
        int64_t debt = -totals->offline_ns;
        totals->missed_ns -= debt < totals->missed_ns ? debt : totals->missed_ns;
        totals->offline_ns = 0;
    }
}

static int collect(struct oncpu *o, uint64_t now, struct why *w)
{
    const struct sketch *sketch = &o->kernel.side.sketch;
    uint64_t events = o->events;
    int err = sketch_wait(sketch, w);
    int changed = err ? 0 : cpus_watch(&o->watch, o->online, (size_t)sketch->shape.cpus);

    if (changed < 0)
        err = why(w, changed, "cannot read " CPUS_ONLINE ": %s", why_errno(changed));
    now -= (uint64_t)o->kernel.side.clock_offset;
    if (err)
        return err;
    tally_clear(&o->tally);
    memset(&o->totals, 0, sizeof o->totals);
    for (size_t i = 0; i < o->nparts; i++) {
        tally_clear(&o->parts[i].tally);
        memset(&o->parts[i].totals, 0, sizeof o->parts[i].totals);
    }
    look_at_all(o);
    if (o->waits)
        waits_begin(o->waits, now);
    for (int cpu = 0; cpu < sketch->shape.cpus; cpu++)
        collect_cpu(o, cpu, now);
    o->events = o->totals.switches;
    o->totals.switches -= events;
    if (o->kernel.side.exact) {
        const struct object_map *map = o->kernel.side.exact_maps[(sketch_now(sketch) - 1) & 1];
        int drained = map_drain(map->fd, map->key_size, map->value_size, add_exact, o, w);
        err = drained < 0 ? drained : 0;
    }
    settle_debts(&o->tally, &o->totals);
    for (size_t i = 0; i < o->nparts; i++)
        settle_debts(&o->parts[i].tally, &o->parts[i].totals);
    o->lost = o->totals.lost;
    if (o->waits) {
        waits_end(o->waits);
        o->waits_lost = waits_totals(o->waits)->lost;
    }
    return err;
}

int oncpu_collect(struct oncpu *o, uint64_t now, struct why *w)
{
    if (o->turned)
        o->collected = collect(o, now, w);
    o->turned = false;
    return o->collected;
}

static uint64_t take(uint64_t *lost)
{
    uint64_t n = *lost;

    *lost = 0;
    return n;
}

uint64_t oncpu_lost(struct oncpu *o)
{
    return take(&o->lost);
}

uint64_t oncpu_waits_lost(struct oncpu *o)
{
    return take(&o->waits_lost);
}

bool oncpu_knows_births(const struct oncpu *o)
{
    return !o->kernel.side.births;
}

const struct waits *oncpu_waits(const struct oncpu *o)
{
    return o->waits;
}

const struct tally *oncpu_tally(const struct oncpu *o)
{
    return &o->tally;
}

const struct oncpu_totals *oncpu_totals(const struct oncpu *o)
{
    return &o->totals;
}

/* ---- names ---- */

static bool name_of_dead(void *context, uint64_t key, struct name *name)
{
    const struct oncpu *o = context;

    for (int cpu = 0; cpu < o->kernel.side.sketch.shape.cpus; cpu++) {
        const struct hog_cpu *c = sketch_head(&o->kernel.side.sketch, cpu);
        if (dead_find(c->dead, sizeof c->dead / sizeof *c->dead, key, name))
            return true;
    }
    return false;
}

const struct name *oncpu_name(struct oncpu *o, uint64_t key, uint64_t now)
{
    return names_find(o->context->names, key, now, name_of_dead, o);
}

bool oncpu_hides(struct oncpu *o, uint64_t key, uint64_t now)
{
    return o->context->options->no_kernel && key_process(key) && oncpu_name(o, key, now)->kernel;
}

void oncpu_shown(struct oncpu *o)
{
    if (++o->shown % o->views == 0)
        sketch_shown(&o->kernel.side.sketch);
}

void oncpu_cost(struct oncpu *o, struct program_cost *cost)
{
    if (++o->costed % o->views == 0)
        side_cost(&o->kernel.side, cost);
}
