// SPDX-License-Identifier: GPL-2.0-only
#include "metric/stalls.h"
#include <stdlib.h>
#include <string.h>
#include "cpu.types.h"
#include "metric/runnable.h"

#define DEBT_NS 10000000000ull /* after so long, it was not from what was told too early */
#define MOST    4096           /* open sleeps; more are not told of before they end */

/* A sleep, and what was told of it. */
struct sleep {
    struct hog_waiting what;
    int64_t told;
};

struct stalls {
    const struct oncpu_kernel *kernel;
    struct pairs sums;
    struct pairs debts;         /* what was taken back before the kernel told of it; most_ns: when */
    struct sleep *now, *before; /* by task */
    size_t nnow, nbefore, room;
    uint64_t lost, lost_ns;
};

struct stalls *stalls_open(const struct oncpu_kernel *kernel)
{
    struct stalls *stalls = calloc(1, sizeof *stalls);

    if (stalls)
        stalls->kernel = kernel;
    return stalls;
}

void stalls_close(struct stalls *stalls)
{
    if (!stalls)
        return;
    pairs_free(&stalls->sums);
    pairs_free(&stalls->debts);
    free(stalls->now);
    free(stalls->before);
    free(stalls);
}

void stalls_begin(struct stalls *stalls)
{
    pairs_clear(&stalls->sums);
    stalls->nnow = 0;
    stalls->lost = stalls->lost_ns = 0;
}

static void add(struct stalls *stalls, uint64_t victim, uint64_t on, int64_t ns, int64_t count, uint64_t most)
{
    struct pair *pair = on >= HOG_ON_IO && on <= HOG_ON_LOCK
                            ? pairs_at(&stalls->sums, victim, on - HOG_ON_IO + 1, false)
                            : NULL;

    if (!pair) {
        stalls->lost += (uint64_t)count;
        stalls->lost_ns += ns > 0 ? (uint64_t)ns : 0;
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

void stalls_cpu(struct stalls *stalls, int cpu)
{
    sketch_drain(&stalls->kernel->by_stall, cpu, take, stalls);
    sketch_lost(&stalls->kernel->by_stall, cpu, &stalls->lost_ns, &stalls->lost);
}

/* ---- sleeps that had not ended at the turn ---- */

void stalls_found(struct stalls *stalls, const struct hog_waiting *sleep)
{
    if (stalls->nnow == stalls->room) {
        size_t room = stalls->room ? 2 * stalls->room : 32;
        struct sleep *now = room <= MOST ? realloc(stalls->now, room * sizeof *now) : NULL;
        if (now)
            stalls->now = now;
        struct sleep *before = now ? realloc(stalls->before, room * sizeof *before) : NULL;
        if (!before)
            return;
        stalls->before = before;
        stalls->room = room;
    }
    stalls->now[stalls->nnow++] = (struct sleep){.what = *sleep};
}

static int by_task(const void *a, const void *b)
{
    const struct hog_waiting *x = &((const struct sleep *)a)->what, *y = &((const struct sleep *)b)->what;

    if (x->task != y->task)
        return x->task < y->task ? -1 : 1;
    return (x->pcount > y->pcount) - (x->pcount < y->pcount);
}

static void take_back(struct stalls *stalls, struct sleep *sleep)
{
    if (sleep->told)
        add(stalls, sleep->what.victim, sleep->what.on, -sleep->told, 0, 0);
    sleep->told = 0;
}

/* Up to the turn, or to its end if the task waits for a CPU since. */
static void go_on(struct stalls *stalls, struct sleep *sleep, uint64_t now)
{
    const struct hog_waiting *what = &sleep->what;
    uint64_t offset;

    if (!runnable_clock(stalls->kernel, what->cpu, &offset))
        return;
    uint64_t to = what->until && what->until < now - offset ? what->until : now - offset;
    int64_t all = (int64_t)(to - what->from);
    if (all <= sleep->told)
        return;
    add(stalls, what->victim, what->on, all - sleep->told, 0, (uint64_t)all);
    sleep->told = all;
}

/* Both lists are in order. */
static void compare(struct stalls *stalls, uint64_t now)
{
    struct sleep *before = stalls->before, *end = before + stalls->nbefore;

    qsort(stalls->now, stalls->nnow, sizeof *stalls->now, by_task);
    for (size_t i = 0; i < stalls->nnow; i++) {
        struct sleep *sleep = &stalls->now[i];
        while (before < end && by_task(before, sleep) < 0)
            take_back(stalls, before++);
        if (before < end && !by_task(before, sleep)) {
            sleep->told = before->told;
            sleep->what.victim = before->what.victim; /* what was told of him is taken back from him */
            before++;
        }
        go_on(stalls, sleep, now);
    }
    while (before < end)
        take_back(stalls, before++);
    struct sleep *swap = stalls->before;
    stalls->before = stalls->now;
    stalls->nbefore = stalls->nnow;
    stalls->now = swap;
}

/* Nobody looked: a sleep has ended if the kernel told of one that was as long. If it has not, the next look
 * tells it anew. */
static void guess(struct stalls *stalls)
{
    for (size_t i = 0; i < stalls->nbefore; i++) {
        struct sleep *sleep = &stalls->before[i];
        const struct pair *pair =
            pairs_find(&stalls->sums, sleep->what.victim, sleep->what.on - HOG_ON_IO + 1, false);
        if (pair && (int64_t)pair->most_ns + 1024 > sleep->told)
            take_back(stalls, sleep);
    }
}

/* What is below zero was taken back before the kernel told of it: it comes off the windows that follow. */
static void settle(struct stalls *stalls, uint64_t now)
{
    for (size_t i = 0; i < stalls->debts.capacity; i++) {
        const struct pair *debt = &stalls->debts.table[i];
        struct pair *pair = debt->victim && debt->ns && now - debt->most_ns < DEBT_NS
                                ? pairs_at(&stalls->sums, debt->victim, debt->aggressor, false)
                                : NULL;
        if (pair)
            pair->ns += debt->ns;
    }
    struct pairs before = stalls->debts;
    stalls->debts = (struct pairs){0};
    for (size_t i = 0; i < stalls->sums.capacity; i++) {
        struct pair *pair = &stalls->sums.table[i];
        if (!pair->victim || pair->ns >= 0)
            continue;
        const struct pair *older = pairs_find(&before, pair->victim, pair->aggressor, false);
        struct pair *debt = pairs_at(&stalls->debts, pair->victim, pair->aggressor, false);
        if (debt) {
            debt->ns = pair->ns;
            debt->most_ns = older ? older->most_ns : now;
        }
        pair->ns = 0;
    }
    pairs_free(&before);
}

void stalls_end(struct stalls *stalls, uint64_t now, bool looked)
{
    if (looked)
        compare(stalls, now);
    else
        guess(stalls);
    settle(stalls, now);
}

const struct pairs *stalls_sums(const struct stalls *stalls)
{
    return &stalls->sums;
}

void stalls_lost(const struct stalls *stalls, uint64_t *lost, int64_t *ns)
{
    *lost += stalls->lost;
    *ns += (int64_t)stalls->lost_ns;
}
