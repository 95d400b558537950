// SPDX-License-Identifier: GPL-2.0-only
#include "metric/runnable.h"
#include <stdlib.h>
#include <string.h>
#include "clock.h"
#include "cpu.types.h"
#include "load/iterator.h"
#include "metric/stalls.h"

#define PRICE 100 /* a look may take this part of the time */
#define PARTS 6
#define MOST  4096 /* open waits; more are not told of before they end */

/* A wait, and what was told of it. */
struct wait {
    struct hog_waiting what;
    int64_t told;
    struct {
        uint64_t aggressor;
        int64_t ns;
    } parts[PARTS]; /* the last one is HOG_SEVERAL, whoever they were */
};

struct runnable {
    const struct oncpu_kernel *kernel;
    struct stalls *stalls;
    struct wait *now, *before; /* by task */
    size_t nnow, nbefore, room;
    uint64_t next; /* not to look before */
};

struct runnable *runnable_open(const struct oncpu_kernel *kernel, struct stalls *stalls)
{
    struct runnable *runnable = calloc(1, sizeof *runnable);

    if (!runnable)
        return NULL;
    runnable->kernel = kernel;
    runnable->stalls = stalls;
    return runnable;
}

void runnable_close(struct runnable *runnable)
{
    if (!runnable)
        return;
    free(runnable->now);
    free(runnable->before);
    free(runnable);
}

/* ---- who waits ---- */

static void note(void *context, const void *record)
{
    struct runnable *runnable = context;
    const struct hog_waiting *what = record;

    if (what->on) {
        if (runnable->stalls)
            stalls_found(runnable->stalls, what);
        return;
    }
    if (runnable->nnow == runnable->room) {
        size_t room = runnable->room ? 2 * runnable->room : 32;
        struct wait *now = room <= MOST ? realloc(runnable->now, room * sizeof *now) : NULL;
        if (now)
            runnable->now = now;
        struct wait *before = now ? realloc(runnable->before, room * sizeof *before) : NULL;
        if (!before)
            return;
        runnable->before = before;
        runnable->room = room;
    }
    runnable->now[runnable->nnow++] = (struct wait){.what = *what};
}

static int by_task(const void *a, const void *b)
{
    const struct hog_waiting *x = &((const struct wait *)a)->what, *y = &((const struct wait *)b)->what;

    if (x->task != y->task)
        return x->task < y->task ? -1 : 1;
    return (x->pcount > y->pcount) - (x->pcount < y->pcount);
}

/* ---- what is told of it ---- */

/* It has compared the two, and not come online just now. */
static bool knows_clock(const struct hog_cpu *c)
{
    return c->clock_offset && c->clock_compared >> 63 == 0;
}

bool runnable_clock(const struct oncpu_kernel *kernel, uint32_t cpu, uint64_t *offset)
{
    const struct sketch *sketch = &kernel->side.sketch;

    if (cpu >= (uint32_t)sketch->shape.cpus)
        return false;
    const struct hog_cpu *c = sketch_head(sketch, (int)cpu);
    for (int other = 0; !knows_clock(c) && other < sketch->shape.cpus; other++)
        c = sketch_head(sketch, other);
    *offset = c->clock_offset;
    return knows_clock(c);
}

static void tell(struct wait *wait, uint64_t aggressor, int64_t ns, runnable_fn fn, void *context)
{
    struct pair part = {
        .victim = wait->what.victim,
        .aggressor = aggressor,
        .ns = ns,
        .most_ns = ns > 0 ? (uint64_t)ns : 0,
        .preempt = wait->what.preempt,
    };
    size_t i = 0;

    while (i < PARTS - 1 && wait->parts[i].aggressor && wait->parts[i].aggressor != aggressor)
        i++;
    wait->parts[i].aggressor = i < PARTS - 1 ? aggressor : HOG_SEVERAL;
    wait->parts[i].ns += ns;
    wait->told += ns;
    fn(context, (int)wait->what.cpu, &part);
}

/* The last `ns` before the turn, at `to` by the run queue's clock. The CPU goes on switching while we read:
 * what does not fit together goes to the rest. */
static void tell_stints(const struct runnable *runnable, struct wait *wait, uint64_t to, int64_t ns,
                        runnable_fn fn, void *context)
{
    const volatile struct hog_waits *w = sketch_head(&runnable->kernel->by_victim, (int)wait->what.cpu);
    const uint64_t kept = sizeof w->ring / sizeof *w->ring;
    uint64_t stints = runnable->kernel->pairs ? w->stints : 0, key = stints ? w->cur : 0, end = UINT64_MAX,
             from = to - (uint64_t)ns;

    for (uint64_t i = 1; i < kept - 8 && i <= stints && ns > 0; i++) {
        const volatile struct hog_stint *before = &w->ring[(stints - i) % kept];
        uint64_t begin = before->end, low = begin > from ? begin : from, high = end < to ? end : to;
        int64_t part = high > low ? (int64_t)(high - low) : 0;
        if (part > ns)
            part = ns;
        if (part && key) {
            tell(wait, key, part, fn, context);
            ns -= part;
        }
        if (begin <= from)
            break;
        key = before->key;
        end = begin;
    }
    if (ns > 0)
        tell(wait, HOG_SEVERAL, ns, fn, context);
}

static void go_on(const struct runnable *runnable, struct wait *wait, uint64_t now, runnable_fn fn,
                  void *context)
{
    const struct hog_waiting *what = &wait->what;
    uint64_t offset;

    if (!runnable_clock(runnable->kernel, what->cpu, &offset))
        return;
    uint64_t to = now - offset;
    if (to <= what->from)
        return; /* since the turn */
    int64_t here = (int64_t)(to - what->from), moved = (int64_t)what->moved;
    int64_t more = here + (moved > 0 && moved < here + (int64_t)now ? moved : 0) - wait->told;
    if (more <= 0)
        return;
    if (what->throttled == UINT64_MAX) {
        tell(wait, HOG_THROTTLED, more, fn, context);
        return;
    }
    int64_t free_of_quota = here - (int64_t)what->throttled;
    if (more > free_of_quota && what->throttled) {
        tell(wait, HOG_THROTTLED, more - free_of_quota, fn, context);
        more = free_of_quota;
    }
    if (more > 0)
        tell_stints(runnable, wait, to, more, fn, context);
}

static void take_back(struct wait *wait, runnable_fn fn, void *context)
{
    for (size_t i = 0; i < PARTS; i++)
        if (wait->parts[i].ns)
            tell(wait, wait->parts[i].aggressor, -wait->parts[i].ns, fn, context);
}

/* Both lists are in order. */
static void compare(struct runnable *runnable, uint64_t now, runnable_fn fn, void *context)
{
    struct wait *before = runnable->before, *end = before + runnable->nbefore;

    for (size_t i = 0; i < runnable->nnow; i++) {
        struct wait *wait = &runnable->now[i];
        while (before < end && by_task(before, wait) < 0)
            take_back(before++, fn, context);
        if (before < end && !by_task(before, wait)) {
            memcpy(wait->parts, before->parts, sizeof wait->parts);
            wait->told = before->told;
            wait->what.victim = before->what.victim; /* what was told of him is taken back from him */
            wait->what.preempt = before->what.preempt;
            before++;
        }
        go_on(runnable, wait, now, fn, context);
    }
    while (before < end)
        take_back(before++, fn, context);
}

static void guess(struct runnable *runnable, runnable_fn fn, runnable_ended ended, void *context)
{
    for (size_t i = 0; i < runnable->nbefore; i++) {
        struct wait *wait = &runnable->before[i];
        if (wait->told > 0 && ended(context, wait->what.victim, wait->told))
            take_back(wait, fn, context);
    }
}

bool runnable_read(struct runnable *runnable, uint64_t now, runnable_fn fn, runnable_ended ended,
                   void *context)
{
    uint64_t begin = clock_ns(CLOCK_MONOTONIC), used = clock_ns(CLOCK_THREAD_CPUTIME_ID);

    runnable->nnow = 0;
    if (begin < runnable->next ||
        iterator_read(runnable->kernel->waiting->fds[0], sizeof(struct hog_waiting), note, runnable)) {
        guess(runnable, fn, ended, context);
        return false;
    }
    for (size_t i = runnable->nnow; i-- > 0;) /* a CPU that is none of ours, a clock that is not set */
        if (runnable->now[i].what.cpu >= (uint32_t)runnable->kernel->side.sketch.shape.cpus)
            runnable->now[i] = runnable->now[--runnable->nnow];
    qsort(runnable->now, runnable->nnow, sizeof *runnable->now, by_task);
    compare(runnable, now, fn, context);
    struct wait *swap = runnable->before;
    runnable->before = runnable->now;
    runnable->nbefore = runnable->nnow;
    runnable->now = swap;
    runnable->next = begin + PRICE * (clock_ns(CLOCK_THREAD_CPUTIME_ID) - used);
    return true;
}
