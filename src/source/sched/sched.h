/* SPDX-License-Identifier: GPL-2.0-only */
/* On-CPU time of every process or thread in a window: the kernel side is bpf/sched.bpf.c. What several views
 * are made from. */
#ifndef HOG_SOURCE_SCHED_SCHED_H
#define HOG_SOURCE_SCHED_SCHED_H

#include "host/names.h"
#include "source/sched/totals.h"
#include "source/shared/source.h"

struct sched;
struct waits;

extern const struct source sched_source; /* needs: enum sched_needs */

/* Of the session; NULL: it is not open. */
struct sched *sched_of(const struct source_context *context);
/* From the next collect() on windows are also added up by parts: part_of[cpu] is below n for each possible
 * CPU, and stays the caller's, who may change it between windows. The first who asks decides: -EBUSY for
 * others; -ENOTSUP: CPUs are not told apart, as the run is one of chosen processes or exact; -ENOMEM. */
int sched_split(struct sched *o, const uint16_t *part_of, size_t n);
const struct sched_part *sched_part(const struct sched *o, size_t i);
const struct tally *sched_tally(const struct sched *o); /* ns and switches by key; or see by_cycles */
const struct sched_totals *sched_totals(const struct sched *o);
/* Whether keys carry births that the kernel tells, not those of forks that were seen: such keys are the same
 * in all objects. */
bool sched_knows_births(const struct sched *o);
const struct waits *sched_waits(const struct sched *o); /* NULL: not counted here */
const struct name *sched_name(struct sched *o, uint64_t key, uint64_t now);
bool sched_hides(struct sched *o, uint64_t key, uint64_t now); /* --no-kernel, and it is a kernel thread */

#endif
