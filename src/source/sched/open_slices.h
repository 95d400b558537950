/* SPDX-License-Identifier: GPL-2.0-only */
/* The stints that are running at a turn: they have had no switch yet, so the reader credits them with what
 * they got until then, and takes it back when they have ended. */
#ifndef HOG_SOURCE_SCHED_OPEN_SLICES_H
#define HOG_SOURCE_SCHED_OPEN_SLICES_H

#include "source/sched/load.h"
#include "source/sched/sums.h"

struct open_slices;

/* -ENOMEM, or CPUS_ONLINE cannot be read. Close what there is in *out then, too. */
int open_slices_open(struct open_slices **out, const struct source_context *context,
                     const struct sched_kernel *kernel, struct error *why);
/* After a turn, before any CPU's. */
int open_slices_begin(struct open_slices *r, struct error *why);
/* Credits who ran on the CPU at the turn, `now`. missed: ns that the window's switches there did not name
 * anybody for. */
void open_slices_credit(struct open_slices *r, struct sched_sums *sums, int cpu, uint64_t now,
                        int64_t missed);
/* Whom it was the last time, and what he got. */
uint64_t open_slices_on(const struct open_slices *r, int cpu, int64_t *ns);
const uint8_t *open_slices_online(const struct open_slices *r); /* of each CPU */
void open_slices_close(struct open_slices *r);                  /* NULL is fine */

#endif
