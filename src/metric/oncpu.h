/* SPDX-License-Identifier: GPL-2.0-only */
/* On-CPU time of every process or thread in a window: the kernel side is bpf/cpu.bpf.c. What several views
 * are made from. */
#ifndef HOG_METRIC_ONCPU_H
#define HOG_METRIC_ONCPU_H

#include "host/names.h"
#include "metric/metric.h"
#include "sketch/tally.h"

struct oncpu;
struct waits;

/* Sums of a window over all CPUs. Every nanosecond of each possible CPU is in exactly one of: a key
 * of the tally, or one of these. */
struct oncpu_totals {
    int64_t idle_ns;
    int64_t other_ns;     /* of processes that were not asked for */
    int64_t other_cycles; /* the same, with ONCPU_CYCLES */
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
struct oncpu_part {
    struct tally tally;
    struct oncpu_totals totals; /* from lost on, nothing is filled in */
};

/* needs: of enum oncpu_needs; those of the other views of the run are added. */
int oncpu_open(struct oncpu **out, const struct metric_context *context, unsigned needs,
               struct hook_report hooks[MAX_HOOKS], struct why *w);
/* From the next collect() on windows are also added up by parts: part_of[cpu] is below n for each possible
 * CPU, and stays the caller's, who may change it between windows. The first who asks decides: -EBUSY for
 * others; -ENOTSUP: CPUs are not told apart, as the run is one of chosen processes or exact; -ENOMEM. */
int oncpu_split(struct oncpu *o, const uint16_t *part_of, size_t n);
const struct oncpu_part *oncpu_part(const struct oncpu *o, size_t i);
void oncpu_turn(struct oncpu *o);
/* now: the time of the turn. */
int oncpu_collect(struct oncpu *o, uint64_t now, struct why *w);
const struct tally *oncpu_tally(const struct oncpu *o); /* ns and switches by key; or see by_cycles */
const struct oncpu_totals *oncpu_totals(const struct oncpu *o);
/* Events that the sketches dropped in the window, for the first view that asks: switches; waits and parts of
 * them. */
uint64_t oncpu_lost(struct oncpu *o);
uint64_t oncpu_waits_lost(struct oncpu *o);
/* Whether keys carry births that the kernel tells, not those of forks that were seen: such keys are the same
 * in all objects. */
bool oncpu_knows_births(const struct oncpu *o);
const struct waits *oncpu_waits(const struct oncpu *o); /* NULL: not counted here */
const struct name *oncpu_name(struct oncpu *o, uint64_t key, uint64_t now);
bool oncpu_hides(struct oncpu *o, uint64_t key, uint64_t now); /* --no-kernel, and it is a kernel thread */
void oncpu_shown(struct oncpu *o); /* the rows of the window are written: names of the dead may go */
void oncpu_cost(struct oncpu *o, struct program_cost *cost);
void oncpu_close(struct oncpu *o);

#endif
