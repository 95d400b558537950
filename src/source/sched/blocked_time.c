// SPDX-License-Identifier: GPL-2.0-only
#include "source/sched/blocked_time.h"
#include <stdlib.h>
#include <string.h>
#include "sched.types.h"

#define DEBT_NS 10000000000ull /* after so long, it was not from what was told too early */
#define MOST    4096           /* open sleeps; more are not told of before they end */

/* A sleep, and what was told of it. */
struct sleep {
    struct hog_waiting what;
    int64_t told;
};

struct blocked_time {
    const struct sched_kernel *kernel;
    struct pairs sums;
    struct pairs debts;         /* what was taken back before the kernel told of it; most_ns: when */
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
    free(blocked_time->now);
    free(blocked_time->before);
    free(blocked_time);
}

void blocked_time_begin(struct blocked_time *blocked_time)
{
    pairs_clear(&blocked_time->sums);
    blocked_time->nnow = 0;
    blocked_time->lost = blocked_time->lost_ns = 0;
}

static void add(struct blocked_time *blocked_time, uint64_t victim, uint64_t on, int64_t ns, int64_t count,
                uint64_t most)
{
    struct pair *pair = on >= HOG_ON_IO && on <= HOG_ON_LOCK
                            ? pairs_at(&blocked_time->sums, victim, on - HOG_ON_IO + 1, false)
                            : NULL;

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

static void take(void *context, const struct hog_slot *slot)
{
    const struct hog_pair *from = (const void *)slot;

    add(context, from->victim, from->aggressor, (int64_t)slot->weight, (int64_t)slot->count, from->most >> 1);
}

void blocked_time_cpu(struct blocked_time *blocked_time, int cpu)
{
    sketch_drain(&blocked_time->kernel->by_blocked, cpu, take, blocked_time);
    sketch_lost(&blocked_time->kernel->by_blocked, cpu, &blocked_time->lost_ns, &blocked_time->lost);
}

/* ---- sleeps that had not ended at the turn ---- */

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

static int by_task(const void *a, const void *b)
{
    const struct hog_waiting *x = &((const struct sleep *)a)->what, *y = &((const struct sleep *)b)->what;

    if (x->task != y->task)
        return x->task < y->task ? -1 : 1;
    return (x->pcount > y->pcount) - (x->pcount < y->pcount);
}

static void take_back(struct blocked_time *blocked_time, struct sleep *sleep)
{
    if (sleep->told)
        add(blocked_time, sleep->what.victim, sleep->what.on, -sleep->told, 0, 0);
    sleep->told = 0;
}

/* Up to the turn, or to its end if the task waits for a CPU since. */
static void go_on(struct blocked_time *blocked_time, struct sleep *sleep, uint64_t now)
{
    const struct hog_waiting *what = &sleep->what;
    uint64_t offset;

    if (!sched_clock_offset(blocked_time->kernel, what->cpu, &offset))
        return;
    uint64_t to = what->until && what->until < now - offset ? what->until : now - offset;
    int64_t all = (int64_t)(to - what->from);
    if (all <= sleep->told)
        return;
    add(blocked_time, what->victim, what->on, all - sleep->told, 0, (uint64_t)all);
    sleep->told = all;
}

/* Both lists are in order. */
static void compare(struct blocked_time *blocked_time, uint64_t now)
{
    struct sleep *before = blocked_time->before, *end = before + blocked_time->nbefore;

    qsort(blocked_time->now, blocked_time->nnow, sizeof *blocked_time->now, by_task);
    for (size_t i = 0; i < blocked_time->nnow; i++) {
        struct sleep *sleep = &blocked_time->now[i];
        while (before < end && by_task(before, sleep) < 0)
            take_back(blocked_time, before++);
        if (before < end && !by_task(before, sleep)) {
            sleep->told = before->told;
            sleep->what.victim = before->what.victim; /* what was told of him is taken back from him */
            before++;
        }
        go_on(blocked_time, sleep, now);
    }
    while (before < end)
        take_back(blocked_time, before++);
    struct sleep *swap = blocked_time->before;
    blocked_time->before = blocked_time->now;
    blocked_time->nbefore = blocked_time->nnow;
    blocked_time->now = swap;
}

/* Nobody looked: a sleep has ended if the kernel told of one that was as long. If it has not, the next look
 * tells it anew. */
static void guess(struct blocked_time *blocked_time)
{
    for (size_t i = 0; i < blocked_time->nbefore; i++) {
        struct sleep *sleep = &blocked_time->before[i];
        const struct pair *pair =
            pairs_find(&blocked_time->sums, sleep->what.victim, sleep->what.on - HOG_ON_IO + 1, false);
        if (pair && (int64_t)pair->most_ns + 1024 > sleep->told)
            take_back(blocked_time, sleep);
    }
}

/* What is below zero was taken back before the kernel told of it: it comes off the windows that follow. */
static void settle(struct blocked_time *blocked_time, uint64_t now)
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

void blocked_time_end(struct blocked_time *blocked_time, uint64_t now, bool looked)
{
    if (looked)
        compare(blocked_time, now);
    else
        guess(blocked_time);
    settle(blocked_time, now);
}

const struct pairs *blocked_time_sums(const struct blocked_time *blocked_time)
{
    return &blocked_time->sums;
}

void blocked_time_lost(const struct blocked_time *blocked_time, uint64_t *lost, int64_t *ns)
{
    *lost += blocked_time->lost;
    *ns += (int64_t)blocked_time->lost_ns;
}
