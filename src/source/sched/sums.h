/* SPDX-License-Identifier: GPL-2.0-only */
/* What a window adds up to by who had the CPU: time, switches or cycles, of all CPUs and by parts of them. */
#ifndef HOG_SOURCE_SCHED_SUMS_H
#define HOG_SOURCE_SCHED_SUMS_H

#include "sched.types.h"
#include "source/sched/totals.h"

#define KEY_OFFLINE (UINT64_MAX - 1) /* nobody is on the CPU */

struct sched_sums {
    const struct targets *targets; /* none: all are asked for */
    struct sched_part all;
    const uint16_t *part_of; /* NULL: not asked for by parts */
    struct sched_part *parts;
    size_t nparts;
    struct sched_part *part; /* of the CPU that is being collected; or NULL */
    int64_t stolen_ns;       /* of that CPU */
};

void sums_clear(struct sched_sums *s);
/* What comes next ran on this CPU. */
void sums_of_cpu(struct sched_sums *s, int cpu);
/* count: switches or, with SCHED_CYCLES, cycles. */
void sums_add(struct sched_sums *s, uint64_t key, int64_t ns, int64_t count);
/* Of the time of a stint that runs: nobody had it. */
void sums_add_stolen(struct sched_sums *s, int64_t ns);
/* What the programs themselves added up in a bank, and what its sketch dropped. */
void sums_add_bank(struct sched_sums *s, const struct hog_cpu *c, unsigned bank, uint64_t lost_ns);
/* After all has been added: a stint that was credited while it ran, and whose end the sketch dropped or
 * nobody saw, or of which something had been stolen, leaves a negative sum behind. It comes off what was
 * lost, stolen, or missed. */
void sums_settle(struct sched_sums *s);
/* Weights become cycles, and counts the time. */
void sums_weigh_by_cycles(struct sched_sums *s);
void sums_free(struct sched_sums *s);

#endif
