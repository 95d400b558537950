/* SPDX-License-Identifier: GPL-2.0-only */
/* Timeslices that are open at a flip: no context switch has counted them yet, so the reader credits them with
 * the time until the flip, and subtracts that when they have ended. */
#ifndef HOG_SOURCE_SCHED_OPEN_SLICES_H
#define HOG_SOURCE_SCHED_OPEN_SLICES_H

#include "source/sched/load.h"
#include "source/sched/sums.h"

struct open_slices;

/* -ENOMEM, or CPUS_ONLINE cannot be read. *out is to be closed on failure, too. */
int open_slices_open(struct open_slices **out, const struct source_context *context,
                     const struct sched_kernel *kernel, struct error *why);
/* After a flip, before the first open_slices_credit(). */
int open_slices_begin(struct open_slices *r, struct error *why);
/* Credits the task that ran on the CPU at the flip, `now`. missed: ns of the window that the CPU's switches
 * did not attribute. */
void open_slices_credit(struct open_slices *r, struct sched_sums *sums, int cpu, uint64_t now,
                        int64_t missed);
/* The task of the previous snapshot and the time credited to it. */
uint64_t open_slices_on(const struct open_slices *r, int cpu, int64_t *ns);
const uint8_t *open_slices_online(const struct open_slices *r); /* by CPU */
void open_slices_close(struct open_slices *r);                  /* NULL is fine */

#endif
