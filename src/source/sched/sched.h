/* SPDX-License-Identifier: GPL-2.0-only */
/* On-CPU time of every process or thread in a window: the kernel side is bpf/sched.bpf.c. What several views
 * are made from. */
#ifndef HOG_SOURCE_SCHED_SCHED_H
#define HOG_SOURCE_SCHED_SCHED_H

#include "host/names.h"
#include "source/shared/source.h"
#include "source/shared/tally.h"

struct sched;
struct waits;

/* Sums of a window over all CPUs. Every nanosecond of each possible CPU is in exactly one of: a key
 * of the tally, or one of these. */
struct sched_totals {
    int64_t idle_ns;
    int64_t other_ns;     /* of processes that were not asked for */
    int64_t other_cycles; /* the same, with SCHED_CYCLES */
    int64_t missed_ns;    /* somebody ran whose switch was not seen */
    int64_t stolen_ns;    /* nobody could run: the hypervisor or an interrupt had the CPU */
    int64_t lost_ns;      /* dropped by the sketch */
    int64_t offline_ns;
    uint64_t lost;     /* switches of that */
    uint64_t switches; /* all, idle's too */
    unsigned cpus;     /* online at the end */
    bool stolen_known; /* else stolen_ns is 0, and what is in it is in the others */
    bool by_cycles;    /* the tally's weights are cycles, and its counts ns */
};

/* The same of some CPUs alone: what ran on them. */
struct sched_part {
    struct tally tally;
    struct sched_totals totals; /* from lost on, nothing is filled in */
};

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
