// SPDX-License-Identifier: GPL-2.0-only
#include "metric/oncpu.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "load/map_read.h"
#include "metric/cycles.h"
#include "metric/dead.h"
#include "metric/oncpu_running.h"
#include "metric/waits.h"

struct oncpu {
    const struct metric_context *context;
    struct oncpu_kernel kernel;
    struct waits *waits; /* NULL: waits are not counted */
    unsigned views;      /* that share it */
    unsigned shown, costed;
    bool turned; /* and not collected yet */
    int collected;
    struct hook_report hooks[MAX_HOOKS];
    struct running *running;
    struct oncpu_sums sums;
    uint64_t lost, waits_lost; /* that no view has told of yet */
    uint64_t events;           /* of all CPUs, ever */
    bool uncounted;            /* cycles of the window before: a CPU came or went */
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

static int open_readers(struct oncpu *o, struct why *w)
{
    o->sums.targets = o->context->targets;
    if (o->kernel.waits && !(o->waits = waits_open(&o->kernel)))
        return why(w, -ENOMEM, "out of memory");
    return running_open(&o->running, o->context, &o->kernel, w);
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
    if (!err)
        err = open_readers(o, w);
    if (err) {
        oncpu_close(o);
        return err;
    }
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
    cycles_close(o->kernel.cycles);
    running_close(o->running);
    sums_free(&o->sums);
    free(o);
}

int oncpu_split(struct oncpu *o, const uint16_t *part_of, size_t n)
{
    if (o->kernel.side.exact)
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

const struct oncpu_part *oncpu_part(const struct oncpu *o, size_t i)
{
    return i < o->sums.nparts ? &o->sums.parts[i] : NULL;
}

/* The first view that asks turns and collects for all. */
void oncpu_turn(struct oncpu *o)
{
    if (o->turned)
        return;
    o->turned = true;
    sketch_turn(&o->kernel.side.sketch);
}

static void ran(const struct oncpu *o, uint64_t key, int64_t ns)
{
    if (o->waits && !o->kernel.side.exact && key && key != KEY_UNSEEN && key != KEY_OFFLINE)
        waits_ran(o->waits, key, ns);
}

static void add_slot(void *context, const struct hog_slot *slot)
{
    struct oncpu *o = context;
    uint64_t count = o->kernel.cycles ? ((const struct hog_cycles_slot *)slot)->cycles : slot->count;

    ran(o, slot->key, (int64_t)slot->weight);
    sums_add(&o->sums, slot->key, (int64_t)slot->weight, (int64_t)count);
}

static int add_exact(void *context, const void *key, const void *value)
{
    struct oncpu *o = context;
    struct hog_time time;
    uint64_t k;

    memcpy(&k, key, sizeof k);
    memcpy(&time, value, sizeof time);
    sums_add(&o->sums, k, (int64_t)time.ns, (int64_t)time.switches);
    return 0;
}

/* The stints that ended in the window. Returns the ns for which the programs named nobody. */
static int64_t collect_ended(struct oncpu *o, int cpu)
{
    const struct sketch *sketch = &o->kernel.side.sketch;
    struct hog_cpu *c = sketch_head(sketch, cpu);
    unsigned bank = (sketch_now(sketch) - 1) & 1;
    uint64_t lost_ns = 0;
    int64_t missed = (int64_t)c->missed[bank];

    if (!o->kernel.side.exact)
        sketch_drain(sketch, cpu, add_slot, o);
    sketch_lost(sketch, cpu, &lost_ns, &o->sums.all.totals.lost);
    sums_add_bank(&o->sums, c, bank, lost_ns);
    c->idle[bank] = c->other[bank] = c->missed[bank] = c->stolen[bank] = c->offline[bank] = 0;
    o->sums.all.totals.switches += c->events;
    return missed;
}

/* The stint that was running at the turn. */
static void collect_running(struct oncpu *o, int cpu, uint64_t now, int64_t missed)
{
    int64_t ns;
    uint64_t key = running_on(o->running, cpu, &ns);

    ran(o, key, -ns);
    running_credit(o->running, &o->sums, cpu, now, missed);
    key = running_on(o->running, cpu, &ns);
    ran(o, key, ns);
}

static void collect_cpu(struct oncpu *o, int cpu, uint64_t now)
{
    sums_of_cpu(&o->sums, cpu);
    collect_running(o, cpu, now, collect_ended(o, cpu));
    if (o->waits)
        waits_cpu(o->waits, cpu, o->sums.stolen_ns);
}

/* With --exact the stints that ended are in a map of all CPUs. */
static int collect_exact(struct oncpu *o, struct why *w)
{
    if (!o->kernel.side.exact)
        return 0;
    const struct object_map *map = o->kernel.side.exact_maps[(sketch_now(&o->kernel.side.sketch) - 1) & 1];
    int drained = map_drain(map->fd, map->key_size, map->value_size, add_exact, o, w);
    return drained < 0 ? drained : 0;
}

/* A CPU that came or went has no count of part of the window, nor of the stint that goes on into the next
 * one: these two are by time. */
static void settle_cycles(struct oncpu *o)
{
    bool before = o->uncounted;

    o->uncounted = cycles_follow(o->kernel.cycles, running_online(o->running));
    o->sums.all.totals.by_cycles = !before && !o->uncounted;
    if (o->sums.all.totals.by_cycles)
        sums_weigh_by_cycles(&o->sums);
}

static int collect(struct oncpu *o, uint64_t now, struct why *w)
{
    const struct sketch *sketch = &o->kernel.side.sketch;
    struct oncpu_totals *totals = &o->sums.all.totals;
    uint64_t events = o->events;
    int err = sketch_wait(sketch, w);

    if (!err)
        err = running_begin(o->running, w);
    if (err)
        return err;
    now -= (uint64_t)o->kernel.side.clock_offset;
    sums_clear(&o->sums);
    totals->stolen_known = o->kernel.knows_stolen;
    if (o->waits)
        waits_begin(o->waits, now);
    for (int cpu = 0; cpu < sketch->shape.cpus; cpu++)
        collect_cpu(o, cpu, now);
    o->events = totals->switches;
    totals->switches -= events;
    err = collect_exact(o, w);
    sums_settle(&o->sums);
    if (o->kernel.cycles)
        settle_cycles(o);
    o->lost = totals->lost;
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
    return &o->sums.all.tally;
}

const struct oncpu_totals *oncpu_totals(const struct oncpu *o)
{
    return &o->sums.all.totals;
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
