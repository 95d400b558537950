/* SPDX-License-Identifier: GPL-2.0-only */
/* Sums of a window by key: time, and switches or cycles, over all CPUs and by groups of CPUs. */
#ifndef HOG_SOURCE_SCHED_SUMS_H
#define HOG_SOURCE_SCHED_SUMS_H

#include "sched.types.h"
#include "source/sched/totals.h"

#define KEY_OFFLINE (UINT64_MAX - 1) /* the CPU is offline */

struct sched_sums {
    const struct targets *targets; /* empty: all tasks */
    struct sched_part all;
    const uint16_t *part_of; /* part of each CPU; NULL: no parts */
    struct sched_part *parts;
    size_t nparts;
    struct sched_part *part; /* of the current CPU; or NULL */
    int64_t stolen_ns;       /* of the current CPU */
};

void sums_clear(struct sched_sums *s);
/* Selects the current CPU. */
void sums_of_cpu(struct sched_sums *s, int cpu);
/* count: switches or, with SCHED_CYCLES, cycles. */
void sums_add(struct sched_sums *s, uint64_t key, int64_t ns, int64_t count);
/* Stolen time of an open timeslice. */
void sums_add_stolen(struct sched_sums *s, int64_t ns);
/* Adds the programs' own sums of a bank, and what its sketch dropped. */
void sums_add_bank(struct sched_sums *s, const struct hog_cpu *c, unsigned bank, uint64_t lost_ns);
/* After the last addition. A timeslice that was credited while open leaves a negative sum if the sketch
 * dropped its end, if its end was not seen, or if part of it was stolen. Such a sum is subtracted from lost,
 * missed and stolen time. */
void sums_settle(struct sched_sums *s);
/* Makes cycles the weights and time the counts. */
void sums_weigh_by_cycles(struct sched_sums *s);
void sums_free(struct sched_sums *s);

#endif
