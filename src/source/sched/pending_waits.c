// SPDX-License-Identifier: GPL-2.0-only
#include "source/sched/pending_waits.h"
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "sched.types.h"
#include "loader/kernel/iterator.h"
#include "source/sched/blocked_time.h"

#define PRICE 100 /* a snapshot may take 1/PRICE of the time */
#define PARTS 6
#define MOST  4096 /* open waits; others are counted when they end */

/* A wait and the time credited for it. */
struct wait {
    struct hog_waiting what;
    int64_t credited;
    struct {
        uint64_t aggressor;
        int64_t ns;
    } parts[PARTS]; /* the last one is HOG_SEVERAL: all further tasks */
};

struct pending_waits {
    const struct sched_kernel *kernel;
    struct blocked_time *blocked_time;
    struct wait *now, *before; /* by task */
    size_t nnow, nbefore, room;
    uint64_t next; /* earliest time of the next snapshot */
};

struct pending_waits *pending_waits_open(const struct sched_kernel *kernel, struct blocked_time *blocked_time)
{
    struct pending_waits *pending_waits = calloc(1, sizeof *pending_waits);

    if (!pending_waits)
        return NULL;
    pending_waits->kernel = kernel;
    pending_waits->blocked_time = blocked_time;
    return pending_waits;
}

void pending_waits_close(struct pending_waits *pending_waits)
{
    if (!pending_waits)
        return;
    free(pending_waits->now);
    free(pending_waits->before);
    free(pending_waits);
}

/* ---- snapshot of waiting tasks ---- */

static void add_waiting_task(void *context, const void *record)
{
    struct pending_waits *pending_waits = context;
    const struct hog_waiting *what = record;

    if (what->on) {
        if (pending_waits->blocked_time)
            blocked_time_found(pending_waits->blocked_time, what);
        return;
    }
    if (pending_waits->nnow == pending_waits->room) {
        size_t room = pending_waits->room ? 2 * pending_waits->room : 32;
        struct wait *now = room <= MOST ? realloc(pending_waits->now, room * sizeof *now) : NULL;
        if (now)
            pending_waits->now = now;
        struct wait *before = now ? realloc(pending_waits->before, room * sizeof *before) : NULL;
        if (!before)
            return;
        pending_waits->before = before;
        pending_waits->room = room;
    }
    pending_waits->now[pending_waits->nnow++] = (struct wait){.what = *what};
}

static int compare_waits(const void *a, const void *b)
{
    const struct hog_waiting *x = &((const struct wait *)a)->what, *y = &((const struct wait *)b)->what;

    if (x->task != y->task)
        return x->task < y->task ? -1 : 1;
    return (x->pcount > y->pcount) - (x->pcount < y->pcount);
}

/* ---- credit ---- */

static void credit_part(struct wait *wait, uint64_t aggressor, int64_t ns, pending_waits_fn fn, void *context)
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
    wait->credited += ns;
    fn(context, (int)wait->what.cpu, &part);
}

/* Credits the last `ns` before the flip, at `to` by the run queue's clock, to the CPU's timeslices. The CPU
 * keeps switching while we read: inconsistent parts go to HOG_SEVERAL. */
static void credit_slices(const struct pending_waits *pending_waits, struct wait *wait, uint64_t to,
                          int64_t ns, pending_waits_fn fn, void *context)
{
    const volatile struct hog_waits *w = sketch_head(&pending_waits->kernel->by_victim, (int)wait->what.cpu);
    const uint64_t kept = sizeof w->ring / sizeof *w->ring;
    uint64_t timeslices = pending_waits->kernel->pairs ? w->timeslices : 0, key = timeslices ? w->cur : 0,
             end = UINT64_MAX, from = to - (uint64_t)ns;

    for (uint64_t i = 1; i < kept - 8 && i <= timeslices && ns > 0; i++) {
        const volatile struct hog_timeslice *before = &w->ring[(timeslices - i) % kept];
        uint64_t begin = before->end, low = begin > from ? begin : from, high = end < to ? end : to;
        int64_t part = high > low ? (int64_t)(high - low) : 0;
        if (part > ns)
            part = ns;
        if (part && key) {
            credit_part(wait, key, part, fn, context);
            ns -= part;
        }
        if (begin <= from)
            break;
        key = before->key;
        end = begin;
    }
    if (ns > 0)
        credit_part(wait, HOG_SEVERAL, ns, fn, context);
}

static void credit_wait(const struct pending_waits *pending_waits, struct wait *wait, uint64_t now,
                        pending_waits_fn fn, void *context)
{
    const struct hog_waiting *what = &wait->what;
    uint64_t offset;

    if (!sched_clock_offset(pending_waits->kernel, what->cpu, &offset))
        return;
    uint64_t to = now - offset;
    if (to <= what->from)
        return; /* it began after the flip */
    int64_t here = (int64_t)(to - what->from), moved = (int64_t)what->moved;
    int64_t more = here + (moved > 0 && moved < here + (int64_t)now ? moved : 0) - wait->credited;
    if (more <= 0)
        return;
    if (what->throttled == UINT64_MAX) {
        credit_part(wait, HOG_THROTTLED, more, fn, context);
        return;
    }
    int64_t free_of_quota = here - (int64_t)what->throttled;
    if (more > free_of_quota && what->throttled) {
        credit_part(wait, HOG_THROTTLED, more - free_of_quota, fn, context);
        more = free_of_quota;
    }
    if (more > 0)
        credit_slices(pending_waits, wait, to, more, fn, context);
}

static void subtract_wait(struct wait *wait, pending_waits_fn fn, void *context)
{
    for (size_t i = 0; i < PARTS; i++)
        if (wait->parts[i].ns)
            credit_part(wait, wait->parts[i].aggressor, -wait->parts[i].ns, fn, context);
}

/* Both lists are sorted. */
static void match_waits(struct pending_waits *pending_waits, uint64_t now, pending_waits_fn fn, void *context)
{
    struct wait *before = pending_waits->before, *end = before + pending_waits->nbefore;

    for (size_t i = 0; i < pending_waits->nnow; i++) {
        struct wait *wait = &pending_waits->now[i];
        while (before < end && compare_waits(before, wait) < 0)
            subtract_wait(before++, fn, context);
        if (before < end && !compare_waits(before, wait)) {
            memcpy(wait->parts, before->parts, sizeof wait->parts);
            wait->credited = before->credited;
            wait->what.victim = before->what.victim; /* the credit is subtracted from the same key */
            wait->what.preempt = before->what.preempt;
            before++;
        }
        credit_wait(pending_waits, wait, now, fn, context);
    }
    while (before < end)
        subtract_wait(before++, fn, context);
}

static void guess_ended_waits(struct pending_waits *pending_waits, pending_waits_fn fn,
                              pending_waits_ended ended, void *context)
{
    for (size_t i = 0; i < pending_waits->nbefore; i++) {
        struct wait *wait = &pending_waits->before[i];
        if (wait->credited > 0 && ended(context, wait->what.victim, wait->credited))
            subtract_wait(wait, fn, context);
    }
}

bool pending_waits_read(struct pending_waits *pending_waits, uint64_t now, pending_waits_fn fn,
                        pending_waits_ended ended, void *context)
{
    uint64_t begin = clock_ns(CLOCK_MONOTONIC), used = clock_ns(CLOCK_THREAD_CPUTIME_ID);

    pending_waits->nnow = 0;
    if (begin < pending_waits->next ||
        iterator_read(pending_waits->kernel->waiting->fds[0], sizeof(struct hog_waiting), add_waiting_task,
                      pending_waits)) {
        guess_ended_waits(pending_waits, fn, ended, context);
        return false;
    }
    for (size_t i = pending_waits->nnow; i-- > 0;) /* drop CPU numbers out of range */
        if (pending_waits->now[i].what.cpu >= (uint32_t)pending_waits->kernel->collector.sketch.shape.cpus)
            pending_waits->now[i] = pending_waits->now[--pending_waits->nnow];
    qsort(pending_waits->now, pending_waits->nnow, sizeof *pending_waits->now, compare_waits);
    match_waits(pending_waits, now, fn, context);
    struct wait *swap = pending_waits->before;
    pending_waits->before = pending_waits->now;
    pending_waits->nbefore = pending_waits->nnow;
    pending_waits->now = swap;
    pending_waits->next = begin + PRICE * (clock_ns(CLOCK_THREAD_CPUTIME_ID) - used);
    return true;
}
