// SPDX-License-Identifier: GPL-2.0-only
#include "source/sched/waits.h"
#include <stdlib.h>
#include <string.h>
#include "sched.types.h"
#include "base/cpus.h"
#include "source/sched/pending_waits.h"
#include "source/sched/cpu_shares.h"
#include "source/sched/blocked_time.h"
#include "source/sched/steal.h"
#include "source/shared/histogram_by_key.h"

#define DEBT_NS 10000000000ull /* an older debt does not come from an early report */

struct waits {
    const struct sched_kernel *kernel;
    uint64_t now;
    struct pairs pairs;   /* by victim and aggressor */
    struct pairs victims; /* aggressor 0, preempt false: total wait */
    struct pairs several; /* to be distributed by CPU: aggressor is HOG_SEVERAL and the CPU */
    struct pairs debts;   /* subtracted before the kernel reported it */
    struct pairs settled; /* memory of the previous debts */
    struct pairs owed;    /* see owe_victim() */
    struct waits_totals totals;
    struct cpu_shares cpu_shares;
    struct pending_waits *pending_waits; /* NULL: not available */
    struct blocked_time *blocked_time;   /* the same */
    struct steal *steal;
    struct histogram_by_key histogram_by_key; /* of wait times by victim */
};

struct waits *waits_open(const struct sched_kernel *kernel)
{
    struct error ignored;
    struct waits *w = calloc(1, sizeof *w);
    size_t cpus = (size_t)kernel->collector.sketch.shape.cpus;

    if (!w)
        return NULL;
    w->kernel = kernel;
    w->steal = steal_open(cpus);
    w->blocked_time = kernel->blocked_time ? blocked_time_open(kernel) : NULL;
    w->pending_waits = kernel->waiting ? pending_waits_open(kernel, w->blocked_time) : NULL;
    if (!cpu_shares_open(&w->cpu_shares, cpus) || (kernel->blocked_time && !w->blocked_time) ||
        (kernel->times && histogram_by_key_open(&w->histogram_by_key, kernel->collector.obj, &ignored)) ||
        !w->steal || (kernel->waiting && !w->pending_waits)) {
        waits_close(w);
        return NULL;
    }
    return w;
}

void waits_close(struct waits *w)
{
    if (!w)
        return;
    pairs_free(&w->pairs);
    pairs_free(&w->victims);
    pairs_free(&w->debts);
    pairs_free(&w->settled);
    pairs_free(&w->owed);
    pairs_free(&w->several);
    cpu_shares_close(&w->cpu_shares);
    histogram_by_key_close(&w->histogram_by_key);
    steal_close(w->steal);
    pending_waits_close(w->pending_waits);
    blocked_time_close(w->blocked_time);
    free(w);
}

void waits_begin(struct waits *w, uint64_t now)
{
    w->now = now;
    cpu_shares_begin(&w->cpu_shares);
    memset(&w->totals, 0, sizeof w->totals);
    pairs_clear(&w->pairs);
    pairs_clear(&w->victims);
    pairs_clear(&w->several);
    steal_read(w->steal, now);
    if (w->blocked_time)
        blocked_time_begin(w->blocked_time);
}

void waits_ran(struct waits *w, uint64_t key, int64_t ns)
{
    if (w->kernel->pairs)
        cpu_shares_ran(&w->cpu_shares, key, ns);
}

/* ---- adding up ---- */

static void add_victim(struct waits *w, uint64_t victim, int64_t ns, int64_t count, uint64_t most)
{
    struct pair *pair = pairs_at(&w->victims, victim, 0, false);

    if (!pair)
        return;
    pair->ns += ns;
    pair->count += count;
    if (pair->most_ns < most)
        pair->most_ns = most;
}

/* HOG_SEVERAL with the number of a CPU. */
static bool is_several(uint64_t aggressor)
{
    return aggressor >> HOG_KEY_PROCESS == 0 && aggressor >> HOG_SEVERAL_CPU &&
           (aggressor & ((1u << HOG_SEVERAL_CPU) - 1)) == HOG_SEVERAL;
}

static void add_to_pairs(struct waits *w, struct pairs *sums, const struct pair *more)
{
    struct pair *pair = pairs_at(sums, more->victim, more->aggressor, more->preempt);

    if (!pair) {
        w->totals.lost_ns += more->ns;
        w->totals.lost++;
        return;
    }
    pair->ns += more->ns;
    pair->count += more->count;
    if (pair->most_ns < more->most_ns)
        pair->most_ns = more->most_ns;
}

static void add_pair(struct waits *w, const struct pair *more)
{
    add_to_pairs(w, is_several(more->aggressor) ? &w->several : &w->pairs, more);
}

/* Charges a part of a wait to an aggressor. */
static void add_part(struct waits *w, const struct pair *whole, uint64_t aggressor, int64_t ns)
{
    struct pair part = *whole;

    part.aggressor = aggressor;
    part.ns = ns;
    if (part.most_ns > (uint64_t)ns)
        part.most_ns = (uint64_t)ns;
    add_pair(w, &part);
}

/* A wait longer than the history of its CPU is distributed over the tasks that ran there in the window. */
static void distribute_wait(struct waits *w, const struct pair *whole)
{
    uint64_t cpu = (whole->aggressor >> HOG_SEVERAL_CPU) - 1;

    if (cpu >= (uint64_t)w->kernel->collector.sketch.shape.cpus)
        return;
    const struct share *end, *share = cpu_shares_of(&w->cpu_shares, (int)cpu, &end);
    int64_t sum = cpu_shares_sum(&w->cpu_shares, (int)cpu);
    if (!sum) {
        add_part(w, whole, HOG_SEVERAL, whole->ns);
        return;
    }
    for (int64_t left = whole->ns, rest = sum; share < end && left; share++) {
        if (share->ns <= 0)
            continue;
        int64_t ns = (int64_t)((double)whole->ns * ((double)share->ns / (double)sum));
        rest -= share->ns;
        if (!rest || ns > left)
            ns = left; /* rounding */
        left -= ns;
        if (ns)
            add_part(w, whole, share->key, ns);
    }
}

/* ---- waits that ended in the window ---- */

static void add_ended_wait(void *context, const struct hog_slot *slot)
{
    add_victim(context, slot->key, (int64_t)slot->weight, (uint32_t)slot->count, slot->count >> 32 << 10);
}

/* The stolen part of a wait is charged to HOG_STEAL, not to a task. */
static void add_ended_pair(void *context, const struct hog_slot *slot)
{
    struct waits *w = context;
    const struct hog_pair *from = (const void *)slot;
    struct pair pair = {
        .victim = from->victim,
        .aggressor = from->aggressor,
        .ns = (int64_t)slot->weight,
        .count = (int64_t)slot->count,
        .most_ns = from->most >> 1,
        .preempt = from->most & 1,
    };
    int64_t stolen = (int64_t)((double)pair.ns * steal_share(w->steal, w->cpu_shares.cpus));

    if (pair.aggressor == HOG_THROTTLED)
        stolen = 0;
    if (stolen) {
        add_part(w, &pair, HOG_STEAL, stolen);
        pair.ns -= stolen;
    }
    add_pair(w, &pair);
}

void waits_cpu(struct waits *w, int cpu, int64_t stolen_ns)
{
    uint64_t ns = 0, count = 0;

    sketch_drain(&w->kernel->by_victim, cpu, add_ended_wait, w);
    sketch_lost(&w->kernel->by_victim, cpu, &ns, &count);
    if (w->kernel->pairs) {
        ns = count = 0; /* rows show pairs: report their losses instead */
        sketch_drain(&w->kernel->by_pair, cpu, add_ended_pair, w);
        sketch_lost(&w->kernel->by_pair, cpu, &ns, &count);
    }
    w->totals.lost_ns += (int64_t)ns;
    w->totals.lost += (uint32_t)count;
    if (w->blocked_time)
        blocked_time_cpu(w->blocked_time, cpu);
    cpu_shares_cpu(&w->cpu_shares, stolen_ns);
}

/* ---- waits that were open at the flip ---- */

/* More of an open wait (ns > 0), or the credit of one that has ended (ns < 0), which the kernel reports in
 * full. */
static void add_open_part(void *context, int cpu, const struct pair *part)
{
    struct waits *w = context;

    add_victim(w, part->victim, part->ns, 0, 0);
    if (part->aggressor == HOG_SEVERAL && part->ns > 0) {
        struct pair coded = *part;
        coded.aggressor |= ((uint64_t)cpu + 1) << HOG_SEVERAL_CPU;
        add_pair(w, &coded);
        return;
    }
    add_pair(w, part);
}

/* Whether a wait of the victim at least `ns` long ended in the window. */
static bool wait_has_ended(void *context, uint64_t victim, int64_t ns)
{
    const struct waits *w = context;
    const struct pair *pair = pairs_find(&w->victims, victim, 0, false);

    return pair && (int64_t)pair->most_ns + 1024 > ns;
}

/* most_ns of a debt is the time it was made. */
static void keep_debt(struct waits *w, const struct pair *from, int64_t ns, uint64_t made)
{
    struct pair *debt = pairs_at(&w->debts, from->victim, from->aggressor, from->preempt);

    if (!debt || w->now - made > DEBT_NS)
        return;
    debt->ns += ns;
    if (!debt->most_ns || made < debt->most_ns)
        debt->most_ns = made;
}

/* Subtracts as much of `debt` (< 0) from a pair as it has. Returns the rest. */
static int64_t pay_from(struct pair *pair, int64_t debt)
{
    int64_t part = !pair || pair->ns <= 0 ? 0 : pair->ns < -debt ? pair->ns : -debt;

    if (part)
        pair->ns -= part;
    return debt + part;
}

/* A negative pair, because an open wait was distributed differently than at its end, is subtracted from the
 * victim's other pairs. `owed` by victim: count is the debt, ns the sum of its pairs, most_ns the time of the
 * debt. */
static void owe_victim(struct waits *w, uint64_t victim, int64_t ns, uint64_t made)
{
    struct pair *sum = pairs_at(&w->owed, victim, 0, false);

    if (!sum)
        return;
    sum->count -= ns;
    if (!sum->most_ns || made < sum->most_ns)
        sum->most_ns = made;
}

/* Each pair of a victim pays in proportion. Two passes over all pairs, without a search for each victim. */
static void pay_owed(struct waits *w)
{
    for (size_t i = 0; i < w->pairs.capacity && w->owed.used; i++) {
        const struct pair *pair = &w->pairs.table[i];
        struct pair *sum = pair->victim && pair->ns > 0 ? pairs_find(&w->owed, pair->victim, 0, false) : NULL;
        if (sum)
            sum->ns += pair->ns;
    }
    for (size_t i = 0; i < w->pairs.capacity && w->owed.used; i++) {
        struct pair *pair = &w->pairs.table[i];
        const struct pair *sum =
            pair->victim && pair->ns > 0 ? pairs_find(&w->owed, pair->victim, 0, false) : NULL;
        if (sum && sum->ns > 0)
            pair->ns -= sum->count >= sum->ns
                            ? pair->ns
                            : (int64_t)((double)pair->ns * ((double)sum->count / (double)sum->ns));
    }
    for (size_t i = 0; i < w->owed.capacity; i++) {
        const struct pair *sum = &w->owed.table[i];
        struct pair rest = {.victim = sum->victim, .aggressor = HOG_SEVERAL};
        if (sum->victim && sum->count > sum->ns)
            keep_debt(w, &rest, sum->ns - sum->count, sum->most_ns);
    }
}

/* A debt without an aggressor is subtracted from the victim's total. */
static int64_t pay_victim(struct waits *w, const struct pair *from)
{
    return pay_from(pairs_find(&w->victims, from->victim, 0, false), from->ns);
}

/* A wait that ended between flip and snapshot was subtracted and is reported in the next window; one that
 * ended without a snapshot was reported in an earlier one. So negative sums are subtracted from later
 * windows, and the total over windows is right. */
static void settle_waits(struct waits *w)
{
    struct pairs before = w->debts;

    w->debts = w->settled;
    pairs_clear(&w->debts);
    pairs_clear(&w->owed);
    for (size_t i = 0; i < before.capacity; i++) {
        const struct pair *debt = &before.table[i];
        if (!debt->victim)
            continue;
        int64_t left =
            debt->aggressor
                ? pay_from(pairs_find(&w->pairs, debt->victim, debt->aggressor, debt->preempt), debt->ns)
                : pay_victim(w, debt);
        if (left < 0 && debt->aggressor)
            owe_victim(w, debt->victim, left, debt->most_ns);
        else if (left < 0)
            keep_debt(w, debt, left, debt->most_ns);
    }
    w->settled = before;
    for (size_t i = 0; i < w->pairs.capacity; i++) {
        struct pair *pair = &w->pairs.table[i];
        if (pair->ns < 0) {
            owe_victim(w, pair->victim, pair->ns, w->now);
            pair->ns = 0;
        }
    }
    pay_owed(w);
    for (size_t i = 0; i < w->victims.capacity; i++) {
        struct pair *pair = &w->victims.table[i];
        if (pair->ns < 0)
            keep_debt(w, pair, pair->ns, w->now);
        if (pair->ns < 0)
            pair->ns = 0;
        w->totals.wait_ns += pair->ns;
    }
}

void waits_end(struct waits *w)
{
    if (w->pending_waits)
        w->totals.open_waits = pending_waits_read(w->pending_waits, w->now, add_open_part, wait_has_ended, w);
    if (w->blocked_time) {
        blocked_time_end(w->blocked_time, w->now, w->totals.open_waits);
        blocked_time_lost(w->blocked_time, &w->totals.blocked_lost, &w->totals.blocked_lost_ns);
    }
    for (size_t i = 0; i < w->several.capacity; i++)
        if (w->several.table[i].victim)
            distribute_wait(w, &w->several.table[i]);
    settle_waits(w);
    if (w->kernel->times)
        histogram_by_key_flip(&w->histogram_by_key);
}

bool waits_quantile(const struct waits *w, uint64_t victim, double q, uint64_t *ns)
{
    return w->kernel->times && histogram_by_key_quantile(&w->histogram_by_key, victim, q, ns);
}

const struct pairs *waits_pairs(const struct waits *w)
{
    return &w->pairs;
}

const struct pair *waits_of_victim(const struct waits *w, uint64_t victim)
{
    return pairs_find(&w->victims, victim, 0, false);
}

const struct pairs *waits_blocked_all(const struct waits *w)
{
    static const struct pairs none;

    return w->blocked_time ? blocked_time_sums(w->blocked_time) : &none;
}

bool waits_blocked(const struct waits *w, uint64_t key, enum blocked what, struct blocked_sum *out)
{
    const struct pair *pair = pairs_find(waits_blocked_all(w), key, (uint64_t)what + 1, false);

    if (!pair)
        return false;
    *out = (struct blocked_sum){pair->ns, pair->count, pair->most_ns};
    return true;
}

bool waits_blocked_known(const struct waits *w, enum blocked what)
{
    if (!w->blocked_time)
        return false;
    return what == BLOCKED_LOCK ? w->kernel->knows_entry : what == BLOCKED_IO || w->kernel->knows_memory;
}

uint32_t waits_lock_holder(const struct waits *w, uint64_t key, int64_t *ns)
{
    *ns = 0;
    return w->blocked_time ? blocked_time_holder(w->blocked_time, key, ns) : 0;
}

const struct waits_totals *waits_totals(const struct waits *w)
{
    return &w->totals;
}

const struct pairs *waits_victims(const struct waits *w)
{
    return &w->victims;
}

bool waits_share_known(const struct waits *w)
{
    return w->kernel->pairs && !w->kernel->collector.exact;
}

const struct interrupts *waits_interrupts(const struct waits *w)
{
    return steal_interrupts(w->steal);
}

uint64_t waits_thief(const struct waits *w)
{
    return steal_is_of_interrupts(w->steal) ? AGGRESSOR_INTERRUPTS : HOG_STEAL;
}

void waits_each_share(const struct waits *w, share_fn fn, void *context)
{
    cpu_shares_each(&w->cpu_shares, fn, context);
}

const char *waits_no_process(uint64_t aggressor)
{
    static const char *const names[] = {
        [HOG_KEY_OUTSIDE] = "[outside]",         [HOG_IDLE] = "[idle]",   [HOG_SEVERAL] = "[several]",
        [HOG_THROTTLED] = "[throttled]",         [HOG_MOVED] = "[moved]", [HOG_STEAL] = "[steal]",
        [AGGRESSOR_INTERRUPTS] = "[interrupts]",
    };

    return aggressor < sizeof names / sizeof *names ? names[aggressor] : NULL;
}
