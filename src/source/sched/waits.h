/* SPDX-License-Identifier: GPL-2.0-only */
/* Waiting for a CPU in a window, by victim and by who had the CPU: the reader's side of
 * bpf/sched/waits.bpf.h. Part of oncpu, which has the switches. */
#ifndef HOG_SOURCE_SCHED_WAITS_H
#define HOG_SOURCE_SCHED_WAITS_H

#include "source/sched/load.h"
#include "source/sched/cpu_shares.h"
#include "source/shared/pairs.h"

struct waits;

/* What one window and all CPUs add up to. */
struct waits_totals {
    int64_t wait_ns;         /* of all victims */
    int64_t lost_ns;         /* dropped by the sketch: it is in no row */
    uint64_t lost;           /* waits, or parts of waits, of that */
    int64_t blocked_lost_ns; /* the same of sleeps */
    uint64_t blocked_lost;
    bool open_waits; /* whether waits that had not ended could be looked for in this window */
};

/* NULL: no memory. */
struct waits *waits_open(const struct sched_kernel *kernel);
void waits_close(struct waits *w);

/* A window: begin, for each CPU all who ran there and then waits_cpu(), end. `now`: the turn, by the clock of
 * the programs. */
void waits_begin(struct waits *w, uint64_t now);
void waits_ran(struct waits *w, uint64_t key, int64_t ns);
void waits_cpu(struct waits *w, int cpu, int64_t stolen_ns);
void waits_end(struct waits *w);

const struct pairs *waits_pairs(const struct waits *w);
const struct pairs *waits_victims(const struct waits *w); /* the same with aggressor 0: how long in all */
const struct pair *waits_of_victim(const struct waits *w, uint64_t victim); /* NULL: it did not wait */
/* The share q (0..1) of the victim's waits that ended in the window, ns; false: not known. */
bool waits_quantile(const struct waits *w, uint64_t victim, double q, uint64_t *ns);
/* Walks over who ran on which CPU in the window: cpu_shares_each(). Nothing while pairs are not counted. */
void waits_each_share(const struct waits *w, share_fn fn, void *context);
bool waits_share_known(const struct waits *w); /* whether that can be said in this run */
/* Who had CPUs while nobody could run there: HOG_STEAL, or interrupts where the kernel counts more of these.
 */
#define AGGRESSOR_INTERRUPTS 15 /* behind enum hog_aggressor and enum hog_sleeps_on */
uint64_t waits_thief(const struct waits *w);
/* What an aggressor that is no process is called: "[steal]"; NULL: it is one. */
const char *waits_no_process(uint64_t aggressor);

/* Sleeps that are no idleness. */
enum blocked {
    BLOCKED_IO,     /* for its reads and writes, or the journal of its file system */
    BLOCKED_MEMORY, /* for memory to be freed or read back: page faults that wait, reclaim, swap */
    BLOCKED_LOCK,   /* for a lock in user space, or another thread that hands over to it at once */
    BLOCKED_KINDS
};
struct blocked_sum {
    int64_t ns;       /* in the window, of all threads together */
    int64_t count;    /* sleeps that ended in it */
    uint64_t most_ns; /* the longest, from its begin */
};
/* Of one process or thread; false: none. */
bool waits_blocked(const struct waits *w, uint64_t key, enum blocked what, struct blocked_sum *out);
/* All: victim is who slept, aggressor an enum stall + 1. Empty where they are not counted. */
const struct pairs *waits_blocked_all(const struct waits *w);
/* Whether such sleeps can be told from idleness here; else there are none of them in the sums. */
bool waits_blocked_known(const struct waits *w, enum blocked what);

const struct waits_totals *waits_totals(const struct waits *w);

#endif
