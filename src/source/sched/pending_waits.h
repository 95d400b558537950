/* SPDX-License-Identifier: GPL-2.0-only */
/* Waits that are open at a flip, from a snapshot of all tasks. */
#ifndef HOG_SOURCE_SCHED_PENDING_WAITS_H
#define HOG_SOURCE_SCHED_PENDING_WAITS_H

#include "source/sched/load.h"
#include "source/shared/pairs.h"

struct pending_waits;
struct blocked_time;

/* blocked_time gets the open sleeps of the same snapshot; or NULL. Returns NULL without memory. */
struct pending_waits *pending_waits_open(const struct sched_kernel *kernel,
                                         struct blocked_time *blocked_time);
void pending_waits_close(struct pending_waits *pending_waits);

/* Calls fn with the time each task waited until the flip at `now` that is not credited yet, by the task that
 * had its CPU, as far as the CPU remembers (HOG_SEVERAL: the rest). The credit of waits that have ended is
 * subtracted (ns < 0). False: no snapshot, because at most 1/100 of the time goes into them; then a wait has
 * ended if `ended` returns true. If that is wrong, the next snapshot credits it again. */
typedef void (*pending_waits_fn)(void *context, int cpu, const struct pair *part);
typedef bool (*pending_waits_ended)(void *context, uint64_t victim, int64_t credited);
bool pending_waits_read(struct pending_waits *pending_waits, uint64_t now, pending_waits_fn fn,
                        pending_waits_ended ended, void *context);

#endif
