/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What each process (with -t: each thread) has done since the look before, and its memory now: faults,
 * storage I/O, its busiest thread. By one pass of a task iterator over all threads, whose counts are the
 * kernel's own: exact, and nothing is hooked. Who lived and died between two looks was not there at either:
 * he is not seen, and the last that one did who dies is not, either.
 *
 * Memory is as exact as the kernel's own quick sums: CPUs hold back up to 31 pages each of file, anonymous
 * and shared memory and swap (2 * CPUs - 1, where that is more), and before 6.2 threads do up to 64 in all.
 * What a thread runs is counted at ticks and switches.
 *
 * Where there is no iterator (before 5.8, or no type data), the same from /proc, of the processes that the
 * caller names before a look.
 */
#ifndef HOG_SOURCE_TASKS_TASKS_H
#define HOG_SOURCE_TASKS_TASKS_H

#include "source/shared/source.h"

struct tasks;

struct task_sums {
    uint64_t key;
    uint64_t span_ns; /* since the look before, or its birth if that was later. 0: the first look at it; then
                       * all that is `since` is not known, and zero */
    uint64_t minor, major;            /* faults since the look before */
    uint64_t read_bytes, write_bytes; /* from and to storage since then, page cache aside; if io_known */
    uint64_t rss_kib, swap_kib;       /* now; if memory_known */
    int64_t rss_delta_kib;            /* since the look before */
    double busiest_thread_pct;        /* of a CPU, that one thread had since then; < 0: not known */
    uint32_t threads;
    bool kernel; /* a kernel thread */
    bool io_known, memory_known;
};

/* Its keys are those of sched, if that is open. */
extern const struct source tasks_source;

/* Of the session; NULL: it is not open. */
struct tasks *tasks_of(const struct source_context *context);

/* Whether looks see all; else only whom the caller wants: that is to be said before each look. */
bool tasks_sees_all(const struct tasks *t);
void tasks_want(struct tasks *t, uint64_t key);

/* 1: looked. 0: not, and all is as at the last look: a look has its price, and at most 1/400 (once a second:
 * 1/100) of the time goes into it. -errno: it failed, and nothing is known: the next one is the first again.
 * now: CLOCK_MONOTONIC. */
int tasks_snapshot(struct tasks *t, uint64_t now);

/* As of the last look; NULL: not seen there. Valid until the next one. */
const struct task_sums *tasks_find(const struct tasks *t, uint64_t key);
typedef void (*tasks_fn)(void *context, const struct task_sums *sums);
void tasks_each(const struct tasks *t, tasks_fn fn, void *context);

#endif
