/* SPDX-License-Identifier: GPL-2.0-only */
/* Run-queue waits of a window by victim and by the task that had the CPU: the reader of
 * bpf/sched/waits.bpf.h. Part of sched, which reads the context switches. */
#ifndef HOG_SOURCE_SCHED_WAITS_H
#define HOG_SOURCE_SCHED_WAITS_H

#include "source/sched/load.h"
#include "source/sched/cpu_shares.h"
#include "source/sched/steal.h"
#include "source/shared/pairs.h"

struct waits;

/* Sums of a window over all CPUs. */
struct waits_totals {
    int64_t wait_ns;         /* of all victims */
    int64_t lost_ns;         /* dropped by the sketch, in no row */
    uint64_t lost;           /* waits or parts of waits dropped */
    int64_t blocked_lost_ns; /* the same for sleeps */
    uint64_t blocked_lost;
    bool open_waits; /* a snapshot of open waits was taken */
};

/* NULL: no memory. */
struct waits *waits_open(const struct sched_kernel *kernel);
void waits_close(struct waits *w);

/* A window: begin; for each CPU all tasks that ran there, then waits_cpu(); end. `now`: the flip, by the
 * clock of the programs. */
void waits_begin(struct waits *w, uint64_t now);
void waits_ran(struct waits *w, uint64_t key, int64_t ns);
void waits_cpu(struct waits *w, int cpu, int64_t stolen_ns);
void waits_end(struct waits *w);

const struct pairs *waits_pairs(const struct waits *w);
const struct pairs *waits_victims(const struct waits *w);                   /* totals: aggressor 0 */
const struct pair *waits_of_victim(const struct waits *w, uint64_t victim); /* NULL: it did not wait */
/* The quantile q (0..1) of the victim's waits that ended in the window, ns; false: not known. */
bool waits_quantile(const struct waits *w, uint64_t victim, double q, uint64_t *ns);
/* cpu_shares_each() of the window. Calls nothing if pairs are not counted. */
void waits_each_share(const struct waits *w, share_fn fn, void *context);
bool waits_share_known(const struct waits *w); /* whether this run has them */
/* The cause of stolen time: HOG_STEAL, or interrupts if the kernel counts more of these. */
#define AGGRESSOR_INTERRUPTS 15 /* after enum hog_aggressor and enum hog_sleeps_on */
uint64_t waits_thief(const struct waits *w);
const struct interrupts *waits_interrupts(const struct waits *w);
/* The name of an aggressor that is not a process, as "[steal]"; NULL: it is a process. */
const char *waits_no_process(uint64_t aggressor);

/* Sleeps that are not idle. */
enum blocked {
    BLOCKED_IO,     /* on its reads and writes, or its file system's journal */
    BLOCKED_MEMORY, /* on memory: major faults, reclaim, swap */
    BLOCKED_LOCK,   /* on a user-space lock, or on another thread that hands over at once */
    BLOCKED_TIMED,  /* on a futex for which several threads of it ask again and again: a lock, if one of them
                       runs */
    BLOCKED_MMAP,   /* on the lock of its address space */
    BLOCKED_SYNC,   /* on I/O in fsync(2) and the like */
    BLOCKED_KINDS
};
struct blocked_sum {
    int64_t ns;       /* in the window, all threads together */
    int64_t count;    /* sleeps that ended in it */
    uint64_t most_ns; /* the longest one, from its start */
};
/* Of a process or thread; false: none. */
bool waits_blocked(const struct waits *w, uint64_t key, enum blocked what, struct blocked_sum *out);
/* All sums: victim is the task that slept, aggressor an enum blocked + 1. Empty if not counted. */
const struct pairs *waits_blocked_all(const struct waits *w);
/* Whether the kernel distinguishes such sleeps from idle ones; else the sums have none. */
bool waits_blocked_known(const struct waits *w, enum blocked what);

/* The thread that had the locks of a process for most of that time, by its futexes; 0: not known. */
uint32_t waits_lock_holder(const struct waits *w, uint64_t key, int64_t *ns);

const struct waits_totals *waits_totals(const struct waits *w);

#endif
