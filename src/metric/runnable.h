/* SPDX-License-Identifier: GPL-2.0-only */
/* Waits that have not ended: by a look at all tasks at the turn of a window. */
#ifndef HOG_METRIC_RUNNABLE_H
#define HOG_METRIC_RUNNABLE_H

#include "metric/oncpu_load.h"
#include "sketch/pairs.h"

struct runnable;
struct stalls;

/* stalls: is told of sleeps that have not ended, which the same look finds; or NULL. NULL: no memory. */
struct runnable *runnable_open(const struct oncpu_kernel *kernel, struct stalls *stalls);
void runnable_close(struct runnable *runnable);

/* From the clock of a CPU's run queue to that of the programs. A CPU that has not switched yet does not know;
 * they hardly differ. */
bool runnable_clock(const struct oncpu_kernel *kernel, uint32_t cpu, uint64_t *offset);

/* Tells fn how much longer each task has waited up to the turn at `now` than when it was last told, and with
 * whom on its CPU, as far as the CPU remembers (HOG_SEVERAL: the rest). Of a wait that has ended since, all
 * that was told is taken back (ns < 0). False: not looked, for a look has its price: at most a hundredth of
 * the time goes into it; then a wait has ended if `ended` says so. If it has not, the next look tells it
 * anew. */
typedef void (*runnable_fn)(void *context, int cpu, const struct pair *part);
typedef bool (*runnable_ended)(void *context, uint64_t victim, int64_t told);
bool runnable_read(struct runnable *runnable, uint64_t now, runnable_fn fn, runnable_ended ended,
                   void *context);

#endif
