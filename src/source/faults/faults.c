// SPDX-License-Identifier: GPL-2.0-only
#include "source/faults/faults.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "faults.types.h"
#include "host/targets.h"
#include "source/shared/exit_names.h"
#include "source/faults/load.h"
#include "source/faults/open_faults.h"
#include "source/shared/pinned_threads.h"
#include "pin_faults.types.h"
#include "source/shared/histogram_by_key.h"
#include "source/faults/pinned.h"
#include "source/shared/sources.h"

#define FOLLOW_NS 1000000000

struct pagefaults {
    const struct source_context *context;
    struct pinned_threads *pinned; /* replaces everything below up to `tally` when another hog counts */
    uint64_t pinned_seen;          /* faults since the pin */
    int pinned_error;
    struct error why;
    struct faults_load load;
    struct histogram_by_key histogram_by_key;
    struct waiting waiting;
    struct tally tally; /* an entry's count is its index in `sums` plus 1, its weight decides the order */
    struct fault_sums *sums;
    size_t nsums, room;
    struct fault_totals totals;
    uint64_t followed;
    uint64_t unseen,
        unseen_lost; /* faults that no program saw: at the last snapshot, and counted as lost so far */
};

static int open_pinned_faults(struct pagefaults *f, struct error *why);

static int open_own_faults(struct pagefaults *f, const struct source_context *context,
                           struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    int err = faults_load(&f->load, context, hooks, why);

    if (!err)
        err = histogram_by_key_open(&f->histogram_by_key, f->load.collector.obj, why);
    if (!err && f->load.timed)
        err = waiting_open(&f->waiting, f->load.collector.obj, context->pidns, why);
    return err;
}

static void pagefaults_close(void *state)
{
    struct pagefaults *f = state;

    if (f->pinned)
        pinned_threads_close(f->pinned);
    free(f->pinned);
    faults_unload(&f->load);
    histogram_by_key_close(&f->histogram_by_key);
    waiting_close(&f->waiting);
    tally_free(&f->tally);
    free(f->sums);
    free(f);
}

static int pagefaults_open(void **state, const struct source_context *context, unsigned needs,
                           struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    struct pagefaults *f = calloc(1, sizeof *f);

    if (!f)
        return error_set(why, -ENOMEM, "out of memory");
    f->context = context;
    int err = context->options->pinned ? open_pinned_faults(f, why) : open_own_faults(f, context, hooks, why);
    if (err) {
        pagefaults_close(f);
        return err;
    }
    *state = f;
    return 0;
}

struct pagefaults *pagefaults_of(const struct source_context *context)
{
    return source_state(context, &faults_source);
}

static void snapshot_pinned_faults(struct pagefaults *f);

static void pagefaults_flip(void *state)
{
    struct pagefaults *f = state;

    if (f->pinned)
        snapshot_pinned_faults(f);
    else
        sketch_flip(&f->load.collector.sketch);
}

/* NULL: out of memory. */
static struct fault_sums *fault_sums_of(struct pagefaults *f, uint64_t key)
{
    if (f->nsums == f->room) {
        size_t room = f->room ? 2 * f->room : 256;
        struct fault_sums *bigger = realloc(f->sums, room * sizeof *bigger);
        if (!bigger)
            return NULL;
        f->sums = bigger;
        f->room = room;
    }
    const struct tally_entry *entry = tally_find(&f->tally, key);
    if (entry)
        return &f->sums[entry->count - 1];
    if (tally_add(&f->tally, key, 0, (int64_t)f->nsums + 1))
        return NULL;
    f->sums[f->nsums] = (struct fault_sums){0};
    return &f->sums[f->nsums++];
}

static bool faults_are_wanted(const struct pagefaults *f, uint64_t key)
{
    return !f->context->targets->n || targets_find(f->context->targets, key);
}

static void add_faults(struct pagefaults *f, uint64_t key, const struct hog_faults *faults)
{
    if (!faults_are_wanted(f, key)) {
        f->totals.other += faults->count;
        return;
    }
    struct fault_sums *sums = fault_sums_of(f, key);
    if (!sums) {
        f->totals.lost += faults->count;
        return;
    }
    sums->ns += (int64_t)faults->ns;
    sums->ended_ns += faults->ns;
    sums->timed += faults->timed;
    sums->minor += faults->count - faults->major;
    sums->major += faults->major;
    sums->kernel += faults->kernel;
    sums->swap += faults->swap;
    if (faults->major)
        sums->major_at = faults->major_at;
}

static void add_fault_slot(void *context, const struct hog_slot *head)
{
    const struct hog_fault_slot *slot = (const struct hog_fault_slot *)head;
    const struct hog_faults faults = {
        .ns = slot->ns,
        .count = slot->slot.count,
        .timed = slot->timed,
        .major = slot->major,
        .kernel = slot->kernel,
        .swap = slot->swap,
        .major_at = slot->major_at,
    };

    add_faults(context, slot->slot.key, &faults);
}

static int add_exact_faults(void *context, const void *key, const void *value)
{
    struct hog_faults faults;
    uint64_t k;

    memcpy(&k, key, sizeof k);
    memcpy(&faults, value, sizeof faults);
    add_faults(context, k, &faults);
    return 0;
}

/* Time in a fault still open; negative when earlier windows were credited with it already. */
static bool add_waiting(void *context, uint64_t key, int64_t ns, bool must)
{
    struct pagefaults *f = context;
    const struct tally_entry *entry = tally_find(&f->tally, key);

    if (ns < 0 && !must && (!entry || f->sums[entry->count - 1].ended_ns < (uint64_t)-ns))
        return false;
    struct fault_sums *sums = faults_are_wanted(f, key) ? fault_sums_of(f, key) : NULL;
    if (sums)
        sums->ns += ns;
    return true;
}

static void collect_fault_cpu(struct pagefaults *f, int cpu)
{
    const struct sketch *sketch = &f->load.collector.sketch;
    struct hog_fault_cpu *c = sketch_head(sketch, cpu);
    unsigned bank = (sketch_now(sketch) - 1) & 1;
    uint64_t weight = 0;

    if (!f->load.collector.exact)
        sketch_drain(sketch, cpu, add_fault_slot, f);
    sketch_lost(sketch, cpu, &weight, &f->totals.lost);
    f->totals.seen += c->seen[bank];
    f->totals.other += c->other[bank];
    c->seen[bank] = c->other[bank] = 0;
}

/* By time lost, or where that is unknown by major faults, then minor ones. A fault credited while open that
 * then ended uncounted leaves a debt: it is dropped. */
static void weigh_faults(struct pagefaults *f)
{
    for (size_t i = 0; i < f->tally.capacity; i++) {
        struct tally_entry *entry = &f->tally.table[i];
        if (!entry->key)
            continue;
        struct fault_sums *sums = &f->sums[entry->count - 1];
        if (sums->ns < 0)
            sums->ns = 0;
        int64_t untimed = (int64_t)(sums->major << 32) + (int64_t)sums->minor;
        entry->weight = f->load.timed ? sums->ns + (untimed > 0) : untimed;
    }
}

/* Faults the kernel raised since the start and no program saw. The programs' own count is read last, so that
 * an event which has just arrived does not count as unseen. */
static uint64_t count_unseen_faults(const struct pagefaults *f)
{
    const struct sketch *sketch = &f->load.collector.sketch;

    if (!f->load.by_events)
        return faults_load_missed(&f->load);
    uint64_t raised = faults_load_raised(&f->load), seen = 0;
    for (int cpu = 0; cpu < sketch->shape.cpus; cpu++)
        seen += ((const volatile struct hog_fault_cpu *)sketch_head(sketch, cpu))->ends;
    return raised > seen ? raised - seen : 0;
}

/* At most once in FOLLOW_NS. An event being counted right now may look unseen once, but not in two snapshots.
 */
static void follow_unseen_faults(struct pagefaults *f, uint64_t now)
{
    if (now - f->followed < FOLLOW_NS)
        return;
    f->followed = now;
    uint64_t before = f->unseen, unseen = f->unseen = count_unseen_faults(f);
    uint64_t sure = before < unseen ? before : unseen;
    if (sure > f->unseen_lost) {
        f->totals.lost += sure - f->unseen_lost;
        f->unseen_lost = sure;
    }
    faults_load_follow(&f->load);
}

/* ---- counted by another hog ---- */

enum { MINOR, MAJOR, KERNEL, TIMED, NS };

static void fault_counters_of(const void *value, uint64_t now, uint64_t counters[PINNED_COUNTERS])
{
    struct hog_thread_sums sums;

    memcpy(&sums, value, sizeof sums);
    counters[MINOR] = sums.minor;
    counters[MAJOR] = sums.major;
    counters[KERNEL] = sums.in_kernel;
    counters[TIMED] = sums.timed;
    counters[NS] = sums.ns;
}

static void add_pinned_faults(void *state, uint64_t key, const uint64_t counters[PINNED_COUNTERS],
                              const void *value)
{
    struct pagefaults *f = state;
    struct hog_thread_sums sums;

    memcpy(&sums, value, sizeof sums);
    const struct hog_faults faults = {
        .ns = counters[NS],
        .count = counters[MINOR] + counters[MAJOR],
        .timed = counters[TIMED],
        .major = counters[MAJOR],
        .kernel = counters[KERNEL],
        .major_at = sums.major_at,
    };
    f->load.timed |= sums.timed != 0;
    add_faults(f, key, &faults);
}

static int open_pinned_faults(struct pagefaults *f, struct error *why)
{
    static const struct pinned_kind kind = {
        .object = "pin_faults",
        .view = "faults",
        .value_bytes = sizeof(struct hog_thread_sums),
        .counters = fault_counters_of,
        .did = add_pinned_faults,
    };

    f->pinned = calloc(1, sizeof *f->pinned);
    return f->pinned ? pinned_threads_open(f->pinned, &kind, f, f->context, why)
                     : error_set(why, -ENOMEM, "out of memory");
}

static void snapshot_pinned_faults(struct pagefaults *f)
{
    uint64_t seen = 0;

    tally_clear(&f->tally);
    f->nsums = 0;
    memset(&f->totals, 0, sizeof f->totals);
    f->pinned_error = pinned_threads_snapshot(f->pinned, &f->why);
    for (int i = 0; i < f->pinned->possible && !f->pinned_error; i++) {
        struct hog_cpu_sums cpu;
        memcpy(&cpu, f->pinned->per_cpu + (size_t)i * f->pinned->cpu_bytes, sizeof cpu);
        seen += cpu.faults;
    }
    f->totals.seen = seen > f->pinned_seen ? seen - f->pinned_seen : 0;
    f->totals.lost += f->pinned->lost;
    f->pinned_seen = seen;
    weigh_faults(f);
}

static int collect_pinned_faults(const struct pagefaults *f, struct error *why)
{
    if (f->pinned_error)
        *why = f->why;
    return f->pinned_error;
}

static int pagefaults_collect(void *state, const struct window *window, struct error *why)
{
    struct pagefaults *f = state;
    uint64_t now = window->end_mono;

    if (f->pinned)
        return collect_pinned_faults(f, why);
    const struct collector *collector = &f->load.collector;
    const struct sketch *sketch = &collector->sketch;
    int err = sketch_wait(sketch, why);

    if (err)
        return err;
    tally_clear(&f->tally);
    f->nsums = 0;
    memset(&f->totals, 0, sizeof f->totals);
    follow_unseen_faults(f, now);
    for (int cpu = 0; cpu < sketch->shape.cpus; cpu++)
        collect_fault_cpu(f, cpu);
    err = collector_drain_exact(collector, add_exact_faults, f, why);
    waiting_flip(&f->waiting, now - (uint64_t)collector->clock_offset, add_waiting, f);
    histogram_by_key_flip(&f->histogram_by_key);
    weigh_faults(f);
    return err;
}

const struct tally *pagefaults_tally(const struct pagefaults *f)
{
    return &f->tally;
}

const struct fault_sums *pagefaults_sums(const struct pagefaults *f, const struct tally_entry *entry)
{
    return &f->sums[entry->count - 1];
}

const struct fault_totals *pagefaults_totals(const struct pagefaults *f)
{
    return &f->totals;
}

bool pagefaults_timed(const struct pagefaults *f)
{
    return f->load.timed;
}

bool pagefaults_swap_known(const struct pagefaults *f)
{
    return f->load.swap_known;
}

bool pagefaults_quantile(const struct pagefaults *f, uint64_t key, double q, uint64_t *ns)
{
    return !f->pinned && histogram_by_key_quantile(&f->histogram_by_key, key, q, ns);
}

static bool pagefaults_exit_name(void *context, uint64_t key, struct name *name)
{
    const struct pagefaults *f = context;
    const struct sketch *sketch = &f->load.collector.sketch;

    return exit_name_of(sketch, EXIT_NAMES(struct hog_fault_cpu), key, name);
}

const struct name *pagefaults_name(struct pagefaults *f, uint64_t key, uint64_t now)
{
    return f->pinned ? pinned_threads_name(f->pinned, key, now)
                     : names_find(f->context->names, key, now, pagefaults_exit_name, f);
}

bool pagefaults_hides(struct pagefaults *f, uint64_t key, uint64_t now)
{
    return f->context->options->no_kernel && key_process(key) && pagefaults_name(f, key, now)->kernel;
}

static uint64_t pagefaults_lost(void *state)
{
    return ((struct pagefaults *)state)->totals.lost;
}

static void pagefaults_shown(void *state)
{
    struct pagefaults *f = state;

    if (!f->pinned)
        sketch_shown(&f->load.collector.sketch);
}

static void pagefaults_cost(void *state, struct program_cost *cost)
{
    const struct pagefaults *f = state;

    if (!f->pinned)
        collector_cost(&f->load.collector, cost);
}

const struct source faults_source = {
    .name = "faults",
    .ways = faults_ways,
    .open = pagefaults_open,
    .flip = pagefaults_flip,
    .collect = pagefaults_collect,
    .shown = pagefaults_shown,
    .lost = pagefaults_lost,
    .cost = pagefaults_cost,
    .close = pagefaults_close,
    .pin = pinned_faults_load,
};
