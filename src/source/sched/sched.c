// SPDX-License-Identifier: GPL-2.0-only
#include "source/sched/sched.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "source/sched/cycles.h"
#include "source/shared/exit_names.h"
#include "source/sched/open_slices.h"
#include "source/shared/sources.h"
#include "source/sched/waits.h"

struct sched {
    const struct source_context *context;
    struct sched_kernel kernel;
    struct waits *waits; /* NULL: waits are not counted */
    struct open_slices *open_slices;
    struct sched_sums sums;
    uint64_t events; /* switches of all CPUs until the last window */
    bool uncounted;  /* the previous window has no cycles: a CPU came or went */
};

static int open_readers(struct sched *o, struct error *why)
{
    o->sums.targets = o->context->targets;
    if (o->kernel.waits && !(o->waits = waits_open(&o->kernel)))
        return error_set(why, -ENOMEM, "out of memory");
    return open_slices_open(&o->open_slices, o->context, &o->kernel, why);
}

static void sched_close(void *state)
{
    struct sched *o = state;

    waits_close(o->waits);
    collector_close(&o->kernel.collector);
    cycles_close(o->kernel.cycles);
    open_slices_close(o->open_slices);
    sums_free(&o->sums);
    free(o);
}

static int sched_open(void **state, const struct source_context *context, unsigned needs,
                      struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    struct sched *o = calloc(1, sizeof *o);

    if (!o)
        return error_set(why, -ENOMEM, "out of memory");
    o->context = context;
    o->kernel.needs = needs;
    int err = sched_load(&o->kernel, context, hooks, why);
    if (!err)
        err = open_readers(o, why);
    if (err) {
        sched_close(o);
        return err;
    }
    *state = o;
    return 0;
}

struct sched *sched_of(const struct source_context *context)
{
    return source_state(context, &sched_source);
}

int sched_split(struct sched *o, const uint16_t *part_of, size_t n)
{
    if (o->kernel.collector.exact)
        return -ENOTSUP;
    if (o->sums.parts)
        return o->sums.nparts == n ? 0 : -EBUSY;
    o->sums.parts = calloc(n, sizeof *o->sums.parts);
    if (!o->sums.parts)
        return -ENOMEM;
    o->sums.part_of = part_of;
    o->sums.nparts = n;
    return 0;
}

const struct sched_part *sched_part(const struct sched *o, size_t i)
{
    return i < o->sums.nparts ? &o->sums.parts[i] : NULL;
}

static void sched_flip(void *state)
{
    sketch_flip(&((struct sched *)state)->kernel.collector.sketch);
}

static void note_share(const struct sched *o, uint64_t key, int64_t ns)
{
    if (o->waits && !o->kernel.collector.exact && key && key != KEY_UNSEEN && key != KEY_OFFLINE)
        waits_ran(o->waits, key, ns);
}

static void sched_add_slot(void *context, const struct hog_slot *slot)
{
    struct sched *o = context;
    uint64_t count = o->kernel.cycles ? ((const struct hog_cycles_slot *)slot)->cycles : slot->count;

    note_share(o, slot->key, (int64_t)slot->weight);
    sums_add(&o->sums, slot->key, (int64_t)slot->weight, (int64_t)count);
}

static int sched_add_exact(void *context, const void *key, const void *value)
{
    struct sched *o = context;
    struct hog_time time;
    uint64_t k;

    memcpy(&k, key, sizeof k);
    memcpy(&time, value, sizeof time);
    sums_add(&o->sums, k, (int64_t)time.ns, (int64_t)time.switches);
    return 0;
}

/* Timeslices that ended in the window. Returns the ns that programs did not attribute. */
static int64_t collect_ended(struct sched *o, int cpu)
{
    const struct sketch *sketch = &o->kernel.collector.sketch;
    struct hog_cpu *c = sketch_head(sketch, cpu);
    unsigned bank = (sketch_now(sketch) - 1) & 1;
    uint64_t lost_ns = 0;
    int64_t missed = (int64_t)c->missed[bank];

    if (!o->kernel.collector.exact)
        sketch_drain(sketch, cpu, sched_add_slot, o);
    sketch_lost(sketch, cpu, &lost_ns, &o->sums.all.totals.lost);
    sums_add_bank(&o->sums, c, bank, lost_ns);
    c->idle[bank] = c->other[bank] = c->missed[bank] = c->stolen[bank] = c->offline[bank] = 0;
    o->sums.all.totals.switches += c->events;
    return missed;
}

/* The timeslice that was open at the flip. */
static void collect_running(struct sched *o, int cpu, uint64_t now, int64_t missed)
{
    int64_t ns;
    uint64_t key = open_slices_on(o->open_slices, cpu, &ns);

    note_share(o, key, -ns);
    open_slices_credit(o->open_slices, &o->sums, cpu, now, missed);
    key = open_slices_on(o->open_slices, cpu, &ns);
    note_share(o, key, ns);
}

static void collect_cpu(struct sched *o, int cpu, uint64_t now)
{
    sums_of_cpu(&o->sums, cpu);
    collect_running(o, cpu, now, collect_ended(o, cpu));
    if (o->waits)
        waits_cpu(o->waits, cpu, o->sums.stolen_ns);
}

/* A CPU that came or went has no cycle count for part of the window, nor for the timeslice that continues
 * into the next one: both windows are weighted by time. */
static void settle_cycles(struct sched *o)
{
    bool before = o->uncounted;

    o->uncounted = cycles_follow(o->kernel.cycles, open_slices_online(o->open_slices));
    o->sums.all.totals.by_cycles = !before && !o->uncounted;
    if (o->sums.all.totals.by_cycles)
        sums_weigh_by_cycles(&o->sums);
}

static int sched_collect(void *state, const struct window *window, struct error *why)
{
    struct sched *o = state;
    const struct sketch *sketch = &o->kernel.collector.sketch;
    struct sched_totals *totals = &o->sums.all.totals;
    uint64_t events = o->events;
    int err = sketch_wait(sketch, why);

    if (!err)
        err = open_slices_begin(o->open_slices, why);
    if (err)
        return err;
    uint64_t now = window->end_mono - (uint64_t)o->kernel.collector.clock_offset;
    sums_clear(&o->sums);
    totals->stolen_known = o->kernel.knows_stolen;
    if (o->waits)
        waits_begin(o->waits, now);
    for (int cpu = 0; cpu < sketch->shape.cpus; cpu++)
        collect_cpu(o, cpu, now);
    o->events = totals->switches;
    totals->switches -= events;
    err = collector_drain_exact(&o->kernel.collector, sched_add_exact, o, why);
    sums_settle(&o->sums);
    if (o->kernel.cycles)
        settle_cycles(o);
    if (o->waits)
        waits_end(o->waits);
    return err;
}

/* Switches if on-CPU time is shown; waits and parts of waits if pairs are; sleeps if blocked time is. */
static uint64_t sched_lost(void *state)
{
    const struct sched *o = state;
    unsigned needs = o->kernel.needs;
    uint64_t lost = needs & SCHED_RUN ? o->sums.all.totals.lost : 0;

    if (o->waits && needs & SCHED_PAIRS)
        lost += waits_totals(o->waits)->lost;
    if (o->waits && needs & SCHED_BLOCKED)
        lost += waits_totals(o->waits)->blocked_lost;
    return lost;
}

bool sched_knows_births(const struct sched *o)
{
    return !o->kernel.collector.births;
}

const struct waits *sched_waits(const struct sched *o)
{
    return o->waits;
}

const struct tally *sched_tally(const struct sched *o)
{
    return &o->sums.all.tally;
}

const struct sched_totals *sched_totals(const struct sched *o)
{
    return &o->sums.all.totals;
}

bool sched_monotonic(const struct sched *o, uint32_t cpu, uint64_t clock, uint64_t *ns)
{
    uint64_t offset;

    if (!o->kernel.waits || !sched_clock_offset(&o->kernel, cpu, &offset))
        return false;
    *ns = clock + offset;
    return true;
}

/* ---- names ---- */

static bool sched_exit_name(void *context, uint64_t key, struct name *name)
{
    const struct sched *o = context;

    return exit_name_of(&o->kernel.collector.sketch, EXIT_NAMES(struct hog_cpu), key, name);
}

const struct name *sched_name(struct sched *o, uint64_t key, uint64_t now)
{
    return names_find(o->context->names, key, now, sched_exit_name, o);
}

void sched_each_exit(const struct sched *o, exit_name_fn fn, void *context)
{
    exit_names_each(&o->kernel.collector.sketch, EXIT_NAMES(struct hog_cpu), fn, context);
}

bool sched_hides(struct sched *o, uint64_t key, uint64_t now)
{
    return o->context->options->no_kernel && key_process(key) && sched_name(o, key, now)->kernel;
}

static void sched_shown(void *state)
{
    sketch_shown(&((struct sched *)state)->kernel.collector.sketch);
}

static void sched_cost(void *state, struct program_cost *cost)
{
    collector_cost(&((struct sched *)state)->kernel.collector, cost);
}

const struct source sched_source = {
    .name = "sched",
    .ways = sched_ways,
    .open = sched_open,
    .flip = sched_flip,
    .collect = sched_collect,
    .shown = sched_shown,
    .lost = sched_lost,
    .cost = sched_cost,
    .close = sched_close,
};
