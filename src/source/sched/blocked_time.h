/* SPDX-License-Identifier: GPL-2.0-only */
/* Blocked time by task and cause: the reader of bpf/sched/blocked_time.bpf.h. Views read it through waits. */
#ifndef HOG_SOURCE_SCHED_BLOCKED_TIME_H
#define HOG_SOURCE_SCHED_BLOCKED_TIME_H

#include "source/sched/load.h"
#include "source/shared/pairs.h"

struct blocked_time;
struct hog_waiting; /* bpf/sched/waiting.bpf.h */

struct blocked_time *blocked_time_open(const struct sched_kernel *kernel); /* NULL: no memory */
void blocked_time_close(struct blocked_time *blocked_time);

/* A window: begin, each CPU, each sleep that was open at the flip, end. `now`: the flip, by the clock of the
 * programs. snapshot: whether open sleeps were read. */
void blocked_time_begin(struct blocked_time *blocked_time);
void blocked_time_cpu(struct blocked_time *blocked_time, int cpu);
void blocked_time_found(struct blocked_time *blocked_time, const struct hog_waiting *sleep);
void blocked_time_end(struct blocked_time *blocked_time, uint64_t now, bool snapshot);

/* victim: the task that slept; aggressor: an enum blocked (source/sched/waits.h) + 1. */
const struct pairs *blocked_time_sums(const struct blocked_time *blocked_time);
/* The thread that had the locks for which a task slept longest, as the futexes say, and how long; 0: not
 * known. A process can write into its futexes what it likes. */
uint32_t blocked_time_holder(const struct blocked_time *blocked_time, uint64_t victim, int64_t *ns);
/* Adds what the sketch dropped in the window. */
void blocked_time_lost(const struct blocked_time *blocked_time, uint64_t *lost, int64_t *ns);

#endif
