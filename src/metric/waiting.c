// SPDX-License-Identifier: GPL-2.0-only
#include "metric/waiting.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "clock.h"
#include "cpu.types.h"
#include "syscall/bpf.h"

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

struct waiting {
    const struct oncpu_kernel *kernel;
    struct wait *now, *before; /* by task */
    size_t nnow, nbefore, room;
    uint64_t next; /* not to look before */
};

struct waiting *waiting_open(const struct oncpu_kernel *kernel)
{
    struct waiting *waiting = calloc(1, sizeof *waiting);

    if (waiting)
        waiting->kernel = kernel;
    return waiting;
}

void waiting_close(struct waiting *waiting)
{
    if (!waiting)
        return;
    free(waiting->now);
    free(waiting->before);
    free(waiting);
}

/* ---- who waits ---- */

static void note(struct waiting *waiting, const struct hog_waiting *what)
{
    if (waiting->nnow == waiting->room) {
        size_t room = waiting->room ? 2 * waiting->room : 32;
        struct wait *now = room <= MOST ? realloc(waiting->now, room * sizeof *now) : NULL;
        if (now)
            waiting->now = now;
        struct wait *before = now ? realloc(waiting->before, room * sizeof *before) : NULL;
        if (!before)
            return;
        waiting->before = before;
        waiting->room = room;
    }
    waiting->now[waiting->nnow++] = (struct wait){.what = *what};
}

/* Whole records, as long as each read gets as many bytes as the kernel has ready. */
static int look(struct waiting *waiting)
{
    struct hog_waiting records[64];
    int fd = sys_bpf_iter_create(waiting->kernel->waiting->fds[0]);
    size_t have = 0;

    if (fd < 0)
        return fd;
    for (;;) {
        ssize_t n = read(fd, (char *)records + have, sizeof records - have);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n <= 0)
            break;
        have += (size_t)n;
        for (size_t i = 0; i < have / sizeof *records; i++)
            note(waiting, &records[i]);
        size_t rest = have % sizeof *records;
        memmove(records, (char *)records + have - rest, rest);
        have = rest;
    }
    close(fd);
    return 0;
}

static int by_task(const void *a, const void *b)
{
    const struct hog_waiting *x = &((const struct wait *)a)->what, *y = &((const struct wait *)b)->what;

    if (x->task != y->task)
        return x->task < y->task ? -1 : 1;
    return (x->pcount > y->pcount) - (x->pcount < y->pcount);
}

/* ---- what is told of it ---- */

/* From the clock of a CPU's run queue to that of the programs. A CPU that has not switched yet does not know;
 * they hardly differ. */
static uint64_t clock_offset(const struct waiting *waiting, uint32_t cpu)
{
    const struct sketch *sketch = &waiting->kernel->side.sketch;
    const struct hog_cpu *c = sketch_head(sketch, (int)cpu);

    for (int other = 0; !c->clock_offset && other < sketch->shape.cpus; other++)
        c = sketch_head(sketch, other);
    return c->clock_offset;
}

static void tell(struct wait *wait, uint64_t aggressor, int64_t ns, waiting_fn fn, void *context)
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
static void tell_stints(const struct waiting *waiting, struct wait *wait, uint64_t to, int64_t ns,
                        waiting_fn fn, void *context)
{
    const volatile struct hog_waits *w = sketch_head(&waiting->kernel->by_victim, (int)wait->what.cpu);
    const uint64_t kept = sizeof w->ring / sizeof *w->ring;
    uint64_t stints = w->stints, key = w->cur, end = UINT64_MAX, from = to - (uint64_t)ns;

    for (uint64_t i = 1; i < kept - 8 && ns > 0; i++) {
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

static void go_on(const struct waiting *waiting, struct wait *wait, uint64_t now, waiting_fn fn,
                  void *context)
{
    uint64_t to = now - clock_offset(waiting, wait->what.cpu);
    const struct hog_waiting *what = &wait->what;

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
        tell_stints(waiting, wait, to, more, fn, context);
}

static void take_back(struct wait *wait, waiting_fn fn, void *context)
{
    for (size_t i = 0; i < PARTS; i++)
        if (wait->parts[i].ns)
            tell(wait, wait->parts[i].aggressor, -wait->parts[i].ns, fn, context);
}

/* Both lists are in order. */
static void compare(struct waiting *waiting, uint64_t now, waiting_fn fn, void *context)
{
    struct wait *before = waiting->before, *end = before + waiting->nbefore;

    for (size_t i = 0; i < waiting->nnow; i++) {
        struct wait *wait = &waiting->now[i];
        while (before < end && by_task(before, wait) < 0)
            take_back(before++, fn, context);
        if (before < end && !by_task(before, wait)) {
            memcpy(wait->parts, before->parts, sizeof wait->parts);
            wait->told = before->told;
            wait->what.victim = before->what.victim; /* what was told of him is taken back from him */
            wait->what.preempt = before->what.preempt;
            before++;
        }
        go_on(waiting, wait, now, fn, context);
    }
    while (before < end)
        take_back(before++, fn, context);
}

bool waiting_read(struct waiting *waiting, uint64_t now, waiting_fn fn, void *context)
{
    uint64_t begin = clock_ns(CLOCK_MONOTONIC);

    if (begin < waiting->next)
        return false;
    waiting->nnow = 0;
    if (look(waiting))
        return false;
    for (size_t i = waiting->nnow; i-- > 0;) /* a CPU that is none of ours, a clock that is not set */
        if (waiting->now[i].what.cpu >= (uint32_t)waiting->kernel->side.sketch.shape.cpus)
            waiting->now[i] = waiting->now[--waiting->nnow];
    qsort(waiting->now, waiting->nnow, sizeof *waiting->now, by_task);
    compare(waiting, now, fn, context);
    struct wait *swap = waiting->before;
    waiting->before = waiting->now;
    waiting->nbefore = waiting->nnow;
    waiting->now = swap;
    uint64_t end = clock_ns(CLOCK_MONOTONIC);
    waiting->next = end + PRICE * (end - begin);
    return true;
}
