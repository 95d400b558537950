/* SPDX-License-Identifier: GPL-2.0-only */
/* Sleeps that are no idleness, by process and by what it slept on: the reader's side of
 * bpf/sched/blocked_time.bpf.h. Part of waits, from whom views have them. */
#ifndef HOG_SOURCE_SCHED_BLOCKED_TIME_H
#define HOG_SOURCE_SCHED_BLOCKED_TIME_H

#include "source/sched/load.h"
#include "source/shared/pairs.h"

struct blocked_time;
struct hog_waiting; /* bpf/sched/waiting.bpf.h */

struct blocked_time *blocked_time_open(const struct sched_kernel *kernel); /* NULL: no memory */
void blocked_time_close(struct blocked_time *blocked_time);

/* A window: begin, each CPU, each sleep that has not ended at the turn, end. `now`: the turn, by the clock of
 * the programs. looked: whether such sleeps were looked for. */
void blocked_time_begin(struct blocked_time *blocked_time);
void blocked_time_cpu(struct blocked_time *blocked_time, int cpu);
void blocked_time_found(struct blocked_time *blocked_time, const struct hog_waiting *sleep);
void blocked_time_end(struct blocked_time *blocked_time, uint64_t now, bool looked);

/* victim: who slept, aggressor: on what, an enum stall (source/sched/waits.h) + 1. */
const struct pairs *blocked_time_sums(const struct blocked_time *blocked_time);
/* Adds what the sketch had to drop in the window. */
void blocked_time_lost(const struct blocked_time *blocked_time, uint64_t *lost, int64_t *ns);

#endif
