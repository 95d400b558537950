/* SPDX-License-Identifier: GPL-2.0-only */
/* What each process (with -t: each thread) did since the previous snapshot, and its memory: faults, storage
 * I/O, its busiest thread. A task iterator reads all threads in one pass. Counts are the kernel's own: exact
 * and without hooks. A process that starts and exits between two snapshots is not seen, nor is what a process
 * does between its last snapshot and its exit.
 * Memory is as exact as the kernel's own quick sums: CPUs hold back up to 31 pages each of file, anonymous
 * and shared memory and swap (2 * CPUs - 1, where that is more), and before 6.2 threads do up to 64 in all.
 * Run time of a thread is updated at ticks and context switches.
 * Without an iterator (before 5.8, or no type data), the same comes from /proc, for the processes that the
 * caller names before a snapshot.
 */
#ifndef HOG_SOURCE_TASKS_TASKS_H
#define HOG_SOURCE_TASKS_TASKS_H

#include "source/shared/source.h"

struct stuck_tasks;
struct tasks;

struct task_sums {
    uint64_t key;
    uint64_t span_ns;      /* since the previous snapshot, or its start if later. 0: its first snapshot; then
                              everything "since" is unknown, and zero */
    uint64_t minor, major; /* faults since the previous snapshot */
    uint64_t usr_ns, sys_ns; /* in user and kernel mode since then: samples of ticks, good for a ratio */
    uint64_t read_bytes,
        write_bytes;            /* from and to storage since then, without page cache hits; if io_known */
    uint64_t rss_kib, swap_kib; /* now; if memory_known */
    int64_t rss_delta_kib;      /* since the previous snapshot */
    double busiest_thread_pct;  /* of a CPU since then; < 0: not known */
    uint32_t threads;
    bool kernel; /* a kernel thread */
    bool io_known, memory_known;
};

/* Its keys are those of sched, if that is open. */
extern const struct source tasks_source;

/* The session's; NULL: it is not open. */
struct tasks *tasks_of(const struct source_context *context);

/* Whether snapshots contain all tasks; else only those that the caller wants: name them before each snapshot.
 */
bool tasks_sees_all(const struct tasks *t);
void tasks_want(struct tasks *t, uint64_t key);

/* 1: taken. 0: skipped, everything is as of the last one, because at most 1/400 of the time (once a second:
 * 1/100) goes into snapshots. -errno: it failed, nothing is known, and the next one is the first again. now:
 * CLOCK_MONOTONIC. */
int tasks_snapshot(struct tasks *t, uint64_t now);

/* From the last snapshot; NULL: not in it. Valid until the next one. */
const struct task_sums *tasks_find(const struct tasks *t, uint64_t key);
typedef void (*tasks_fn)(void *context, const struct task_sums *sums);
void tasks_each(const struct tasks *t, tasks_fn fn, void *context);

/* Threads that cannot go on, as of the last snapshot; NULL: not looked for. */
struct stuck_tasks *tasks_stuck(const struct tasks *t);

#endif
