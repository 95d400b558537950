/* SPDX-License-Identifier: GPL-2.0-only */
/* Sleeps that are no idleness, by process and by what it slept on: the reader's side of bpf/stalls.bpf.h.
 * Part of waits, from whom views have them. */
#ifndef HOG_METRIC_STALLS_H
#define HOG_METRIC_STALLS_H

#include "metric/oncpu_load.h"
#include "sketch/pairs.h"

struct stalls;
struct hog_waiting; /* bpf/waiting.bpf.h */

struct stalls *stalls_open(const struct oncpu_kernel *kernel); /* NULL: no memory */
void stalls_close(struct stalls *stalls);

/* A window: begin, each CPU, each sleep that has not ended at the turn, end. `now`: the turn, by the clock of
 * the programs. looked: whether such sleeps were looked for. */
void stalls_begin(struct stalls *stalls);
void stalls_cpu(struct stalls *stalls, int cpu);
void stalls_found(struct stalls *stalls, const struct hog_waiting *sleep);
void stalls_end(struct stalls *stalls, uint64_t now, bool looked);

/* victim: who slept, aggressor: on what, an enum stall (metric/waits.h) + 1. */
const struct pairs *stalls_sums(const struct stalls *stalls);
/* Adds what the sketch had to drop in the window. */
void stalls_lost(const struct stalls *stalls, uint64_t *lost, int64_t *ns);

#endif
