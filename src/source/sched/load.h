/* SPDX-License-Identifier: GPL-2.0-only */
/* Loads bpf/sched.bpf.c into the kernel. */
#ifndef HOG_SOURCE_SCHED_LOAD_H
#define HOG_SOURCE_SCHED_LOAD_H

#include "source/shared/collector.h"

/* The key of a CPU whose current task is not known yet. */
#define KEY_UNSEEN UINT64_MAX

/* What the views of a run need. */
enum sched_needs {
    SCHED_WAITS = 1,   /* how long tasks wait for a CPU, if possible */
    SCHED_TIMES = 4,   /* and a histogram of these times */
    SCHED_PAIRS = 2,   /* and which tasks they wait for */
    SCHED_BLOCKED = 8, /* and blocked time, as far as pairs are counted */
    SCHED_STRICT = 16, /* without pairs the source does not open */
    SCHED_PARTS = 32,  /* by CPU: the sketch also serves filters by PID */
    SCHED_RUN = 128,   /* run time is shown: its losses are reported */
    SCHED_CYCLES = 64, /* cycles instead of switches, by CPU too; without them the source does not open */
};

struct sched_kernel {
    struct collector collector;             /* first */
    unsigned needs;                         /* enum sched_needs */
    bool waits, pairs, times, blocked_time; /* what of it is counted */
    bool knows_stolen;                      /* stolen time of a timeslice can be read */
    bool knows_entry;                       /* how a task entered the kernel can be read */
    bool knows_memory; /* whether a task waits for memory can be read; without both, such sleeps count as idle
                        */
    struct sketch by_victim, by_pair, by_blocked;
    const struct object_program *taken; /* updates stolen time of open timeslices; or NULL */
    const struct link *waiting;         /* iterator over waiting tasks; or NULL */
    struct cycles *cycles;              /* NULL: not asked for */
};

extern const struct hook_ways sched_ways[];

int sched_load(struct sched_kernel *kernel, const struct source_context *context,
               struct hook_report hooks[MAX_HOOKS], struct error *why);

/* From the clock of a CPU's run queue to that of the programs. A CPU that has not switched yet does not know
 * it; the offsets hardly differ. */
bool sched_clock_offset(const struct sched_kernel *kernel, uint32_t cpu, uint64_t *offset);

#endif
