/* SPDX-License-Identifier: GPL-2.0-only */
/* What the CPUs did in a window. */
#ifndef HOG_SOURCE_SCHED_TOTALS_H
#define HOG_SOURCE_SCHED_TOTALS_H

#include <stdbool.h>
#include <stdint.h>
#include "source/shared/tally.h"

/* Sums of a window over all CPUs. Every nanosecond of each possible CPU is in exactly one place: a key of the
 * tally, or one of these. */
struct sched_totals {
    int64_t idle_ns;
    int64_t other_ns;     /* of processes that were not chosen */
    int64_t other_cycles; /* the same, with SCHED_CYCLES */
    int64_t missed_ns;    /* a task ran whose switch was not seen */
    int64_t stolen_ns;    /* no task could run: the hypervisor or an interrupt had the CPU */
    int64_t lost_ns;      /* dropped by the sketch */
    int64_t offline_ns;
    uint64_t lost;     /* switches that the sketch dropped */
    uint64_t switches; /* all, idle's too */
    unsigned cpus;     /* online at the end */
    bool stolen_known; /* otherwise stolen_ns is 0, and that time is in the others */
    bool by_cycles;    /* the tally's weights are cycles, and its counts ns */
};

/* The same for some of the CPUs: what ran on them. */
struct sched_part {
    struct tally tally;
    struct sched_totals totals; /* from lost on, nothing is filled in */
};

#endif
