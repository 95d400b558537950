/* SPDX-License-Identifier: GPL-2.0-only */
/* Waits that have not ended: by a look at all tasks at the turn of a window. */
#ifndef HOG_SOURCE_SCHED_PENDING_WAITS_H
#define HOG_SOURCE_SCHED_PENDING_WAITS_H

#include "source/sched/load.h"
#include "source/shared/pairs.h"

struct pending_waits;
struct blocked_time;

/* stalls: is told of sleeps that have not ended, which the same look finds; or NULL. NULL: no memory. */
struct pending_waits *pending_waits_open(const struct sched_kernel *kernel,
                                         struct blocked_time *blocked_time);
void pending_waits_close(struct pending_waits *pending_waits);

/* Tells fn how much longer each task has waited up to the turn at `now` than when it was last told, and with
 * whom on its CPU, as far as the CPU remembers (HOG_SEVERAL: the rest). Of a wait that has ended since, all
 * that was told is taken back (ns < 0). False: not looked, for a look has its price: at most a hundredth of
 * the time goes into it; then a wait has ended if `ended` says so. If it has not, the next look tells it
 * anew. */
typedef void (*pending_waits_fn)(void *context, int cpu, const struct pair *part);
typedef bool (*pending_waits_ended)(void *context, uint64_t victim, int64_t told);
bool pending_waits_read(struct pending_waits *pending_waits, uint64_t now, pending_waits_fn fn,
                        pending_waits_ended ended, void *context);

#endif
