/* SPDX-License-Identifier: GPL-2.0-only */
/* Fields and cells about on-CPU time and waits for it that several views have. */
#ifndef HOG_VIEW_SCHED_CELLS_H
#define HOG_VIEW_SCHED_CELLS_H

#include "out/out.h"
#include "source/sched/sched.h"

struct cell cell_milliseconds(int64_t ns);

/* Where every CPU's time went, for the window line. Returns how many of `fields` it wrote. */
size_t sched_fields(const struct sched *o, struct field *fields, size_t n);
size_t sched_fields_of(const struct sched_totals *totals, const struct tally *tally, struct field *fields,
                       size_t n);

/* What interrupts take of the CPUs, and of the one where they take most. */
size_t interrupt_fields(const struct sched *o, struct field *fields, size_t n);

/* Run-queue latency of one key: unknown where the host does not report it, zeros for a task that did not
 * wait. */
struct waited {
    struct cell ms, count, p50_us, p99_us, max_us;
};
struct waited sched_waited(const struct sched *o, uint64_t key);

#endif
