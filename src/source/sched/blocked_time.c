// SPDX-License-Identifier: GPL-2.0-only
#include "source/sched/blocked_time.h"
#include <stdlib.h>
#include <string.h>
#include "sched.types.h"

#define DEBT_NS 10000000000ull /* an older debt does not come from an early report */
#define MOST    4096           /* open sleeps; others are counted when they end */

/* A sleep and the time credited for it. */
struct sleep {
    struct hog_waiting what;
    int64_t credited;
};

struct blocked_time {
    const struct sched_kernel *kernel;
    struct pairs sums;
    struct pairs holders;       /* of locks: aggressor is the thread */
    struct pairs debts;         /* subtracted before the kernel reported it; most_ns: when */
    struct sleep *now, *before; /* by task */
    size_t nnow, nbefore, room;
    uint64_t lost, lost_ns;
};

struct blocked_time *blocked_time_open(const struct sched_kernel *kernel)
{
    struct blocked_time *blocked_time = calloc(1, sizeof *blocked_time);

    if (blocked_time)
        blocked_time->kernel = kernel;
    return blocked_time;
}

void blocked_time_close(struct blocked_time *blocked_time)
{
    if (!blocked_time)
        return;
    pairs_free(&blocked_time->sums);
    pairs_free(&blocked_time->debts);
    pairs_free(&blocked_time->holders);
    free(blocked_time->now);
    free(blocked_time->before);
    free(blocked_time);
}

void blocked_time_begin(struct blocked_time *blocked_time)
{
    pairs_clear(&blocked_time->sums);
    pairs_clear(&blocked_time->holders);
    blocked_time->nnow = 0;
    blocked_time->lost = blocked_time->lost_ns = 0;
}

static void blocked_add(struct blocked_time *blocked_time, uint64_t victim, uint64_t on, int64_t ns,
                        int64_t count, uint64_t most)
{
    uint32_t what = (uint32_t)on, holder = (uint32_t)(on >> 32);
    struct pair *pair = what >= HOG_ON_IO && what < HOG_ON_LOCK_IF_SHORT
                            ? pairs_at(&blocked_time->sums, victim, what - HOG_ON_IO + 1, false)
                            : NULL;
    struct pair *held = pair && holder ? pairs_at(&blocked_time->holders, victim, holder, false) : NULL;

    if (held)
        held->ns += ns;
    if (!pair) {
        blocked_time->lost += (uint64_t)count;
        blocked_time->lost_ns += ns > 0 ? (uint64_t)ns : 0;
        return;
    }
    pair->ns += ns;
    pair->count += count;
    if (pair->most_ns < most)
        pair->most_ns = most;
}

/* ---- sleeps that ended in the window ---- */

static void add_ended_sleep(void *context, const struct hog_slot *slot)
{
    const struct hog_pair *from = (const void *)slot;

    blocked_add(context, from->victim, from->aggressor, (int64_t)slot->weight, (int64_t)slot->count,
                from->most >> 1);
}

void blocked_time_cpu(struct blocked_time *blocked_time, int cpu)
{
    sketch_drain(&blocked_time->kernel->by_blocked, cpu, add_ended_sleep, blocked_time);
    sketch_lost(&blocked_time->kernel->by_blocked, cpu, &blocked_time->lost_ns, &blocked_time->lost);
}

/* ---- sleeps that were open at the flip ---- */

void blocked_time_found(struct blocked_time *blocked_time, const struct hog_waiting *sleep)
{
    if (blocked_time->nnow == blocked_time->room) {
        size_t room = blocked_time->room ? 2 * blocked_time->room : 32;
        struct sleep *now = room <= MOST ? realloc(blocked_time->now, room * sizeof *now) : NULL;
        if (now)
            blocked_time->now = now;
        struct sleep *before = now ? realloc(blocked_time->before, room * sizeof *before) : NULL;
        if (!before)
            return;
        blocked_time->before = before;
        blocked_time->room = room;
    }
    blocked_time->now[blocked_time->nnow++] = (struct sleep){.what = *sleep};
}

static int compare_sleeps(const void *a, const void *b)
{
    const struct hog_waiting *x = &((const struct sleep *)a)->what, *y = &((const struct sleep *)b)->what;

    if (x->task != y->task)
        return x->task < y->task ? -1 : 1;
    return (x->pcount > y->pcount) - (x->pcount < y->pcount);
}

static uint64_t on_of(const struct hog_waiting *sleep)
{
    return sleep->on | (uint64_t)sleep->holder << 32;
}

static void subtract_sleep(struct blocked_time *blocked_time, struct sleep *sleep)
{
    if (sleep->credited)
        blocked_add(blocked_time, sleep->what.victim, on_of(&sleep->what), -sleep->credited, 0, 0);
    sleep->credited = 0;
}

/* Credits a sleep up to the flip, or up to its end if the task waits for a CPU since then. */
static void credit_sleep(struct blocked_time *blocked_time, struct sleep *sleep, uint64_t now)
{
    const struct hog_waiting *what = &sleep->what;
    uint64_t offset;

    if (!sched_clock_offset(blocked_time->kernel, what->cpu, &offset))
        return;
    uint64_t to = what->until && what->until < now - offset ? what->until : now - offset;
    int64_t all = (int64_t)(to - what->from);
    if (all <= sleep->credited)
        return;
    blocked_add(blocked_time, what->victim, on_of(what), all - sleep->credited, 0, (uint64_t)all);
    sleep->credited = all;
}

/* Both lists are sorted. */
static void match_sleeps(struct blocked_time *blocked_time, uint64_t now)
{
    struct sleep *before = blocked_time->before, *end = before + blocked_time->nbefore;

    qsort(blocked_time->now, blocked_time->nnow, sizeof *blocked_time->now, compare_sleeps);
    for (size_t i = 0; i < blocked_time->nnow; i++) {
        struct sleep *sleep = &blocked_time->now[i];
        while (before < end && compare_sleeps(before, sleep) < 0)
            subtract_sleep(blocked_time, before++);
        if (before < end && !compare_sleeps(before, sleep)) {
            sleep->credited = before->credited;
            sleep->what.victim = before->what.victim; /* the credit is subtracted from the same key */
            before++;
        }
        credit_sleep(blocked_time, sleep, now);
    }
    while (before < end)
        subtract_sleep(blocked_time, before++);
    struct sleep *swap = blocked_time->before;
    blocked_time->before = blocked_time->now;
    blocked_time->nbefore = blocked_time->nnow;
    blocked_time->now = swap;
}

/* Without a snapshot: a sleep has ended if the kernel reported one at least as long. If that is wrong, the
 * next snapshot credits it again. */
static void guess_ended_sleeps(struct blocked_time *blocked_time)
{
    for (size_t i = 0; i < blocked_time->nbefore; i++) {
        struct sleep *sleep = &blocked_time->before[i];
        const struct pair *pair =
            pairs_find(&blocked_time->sums, sleep->what.victim, sleep->what.on - HOG_ON_IO + 1, false);
        if (pair && (int64_t)pair->most_ns + 1024 > sleep->credited)
            subtract_sleep(blocked_time, sleep);
    }
}

/* A negative sum was subtracted before the kernel reported the sleep: it is subtracted from later windows. */
static void settle_blocked(struct blocked_time *blocked_time, uint64_t now)
{
    for (size_t i = 0; i < blocked_time->debts.capacity; i++) {
        const struct pair *debt = &blocked_time->debts.table[i];
        struct pair *pair = debt->victim && debt->ns && now - debt->most_ns < DEBT_NS
                                ? pairs_at(&blocked_time->sums, debt->victim, debt->aggressor, false)
                                : NULL;
        if (pair)
            pair->ns += debt->ns;
    }
    struct pairs before = blocked_time->debts;
    blocked_time->debts = (struct pairs){0};
    for (size_t i = 0; i < blocked_time->sums.capacity; i++) {
        struct pair *pair = &blocked_time->sums.table[i];
        if (!pair->victim || pair->ns >= 0)
            continue;
        const struct pair *older = pairs_find(&before, pair->victim, pair->aggressor, false);
        struct pair *debt = pairs_at(&blocked_time->debts, pair->victim, pair->aggressor, false);
        if (debt) {
            debt->ns = pair->ns;
            debt->most_ns = older ? older->most_ns : now;
        }
        pair->ns = 0;
    }
    pairs_free(&before);
}

void blocked_time_end(struct blocked_time *blocked_time, uint64_t now, bool snapshot)
{
    if (snapshot)
        match_sleeps(blocked_time, now);
    else
        guess_ended_sleeps(blocked_time);
    settle_blocked(blocked_time, now);
}

const struct pairs *blocked_time_sums(const struct blocked_time *blocked_time)
{
    return &blocked_time->sums;
}

uint32_t blocked_time_holder(const struct blocked_time *blocked_time, uint64_t victim, int64_t *ns)
{
    const struct pair *most = NULL;

    for (size_t i = 0; i < blocked_time->holders.capacity; i++) {
        const struct pair *pair = &blocked_time->holders.table[i];
        if (pair->victim == victim && pair->ns > 0 && (!most || pair->ns > most->ns))
            most = pair;
    }
    *ns = most ? most->ns : 0;
    return most ? (uint32_t)most->aggressor : 0;
}

void blocked_time_lost(const struct blocked_time *blocked_time, uint64_t *lost, int64_t *ns)
{
    *lost += blocked_time->lost;
    *ns += (int64_t)blocked_time->lost_ns;
}
