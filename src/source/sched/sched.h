/* SPDX-License-Identifier: GPL-2.0-only */
/* On-CPU time of every process or thread in a window: the kernel side is bpf/sched.bpf.c. */
#ifndef HOG_SOURCE_SCHED_SCHED_H
#define HOG_SOURCE_SCHED_SCHED_H

#include "host/names.h"
#include "source/sched/totals.h"
#include "source/shared/exit_names.h"
#include "source/shared/source.h"

struct sched;
struct waits;

extern const struct source sched_source; /* needs: enum sched_needs */

/* The session's; NULL: it is not open. */
struct sched *sched_of(const struct source_context *context);
/* From the next collect() on, windows are also summed by part: part_of[cpu] is below n for each possible CPU.
 * The caller owns part_of and may change it between windows. -EBUSY: an earlier caller uses another n;
 * -ENOTSUP: exact maps or a filter by PID do not count by CPU; -ENOMEM. */
int sched_split(struct sched *o, const uint16_t *part_of, size_t n);
const struct sched_part *sched_part(const struct sched *o, size_t i);
const struct tally *sched_tally(const struct sched *o); /* ns and switches by key; see by_cycles */
const struct sched_totals *sched_totals(const struct sched *o);
/* Whether start times in keys come from the kernel, not from observed forks: then all objects have the same
 * keys. */
bool sched_knows_births(const struct sched *o);
/* A time by the clock of a CPU's run queue as CLOCK_MONOTONIC; false: not known. */
bool sched_monotonic(const struct sched *o, uint32_t cpu, uint64_t clock, uint64_t *ns);
const struct waits *sched_waits(const struct sched *o); /* NULL: not counted */
const struct name *sched_name(struct sched *o, uint64_t key, uint64_t now);
/* Processes (with -t: threads) that have ended, as far as they are remembered: of each window the heaviest.
 */
void sched_each_exit(const struct sched *o, exit_name_fn fn, void *context);
bool sched_hides(struct sched *o, uint64_t key, uint64_t now); /* a kernel thread with --no-kernel */

#endif
