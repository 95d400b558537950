/* SPDX-License-Identifier: GPL-2.0-only */
/* Getting bpf/sched.bpf.c into the kernel. */
#ifndef HOG_SOURCE_SCHED_LOAD_H
#define HOG_SOURCE_SCHED_LOAD_H

#include "source/shared/collector.h"

/* The note of a CPU that has not reported yet: nobody knows who is on it. */
#define KEY_UNSEEN UINT64_MAX

/* What the views of a run need beside who ran for how long. */
enum sched_needs {
    SCHED_WAITS = 1,   /* how long processes wait for a CPU, if it can be had */
    SCHED_TIMES = 4,   /* and how these times spread */
    SCHED_PAIRS = 2,   /* and because of whom */
    SCHED_BLOCKED = 8, /* and what they sleep on, if that is no idleness: as far as pairs can be had */
    SCHED_STRICT = 16, /* without pairs the view does not work */
    SCHED_PARTS = 32,  /* on which CPUs: chosen processes are picked from the sketch */
    SCHED_RUN = 128,   /* who ran for how long is shown: what of it is lost is told */
    SCHED_CYCLES =
        64, /* and for how many cycles, in place of switches: the same; without them there is no view
             */
};

struct sched_kernel {
    struct collector collector;             /* first */
    unsigned needs;                         /* enum sched_needs */
    bool waits, pairs, times, blocked_time; /* what there is of that */
    bool knows_stolen;                      /* how much of a stint nobody could run */
    bool knows_entry;                       /* how a task came into the kernel can be read, */
    bool knows_memory; /* and whether it waits for memory: else sleeps on locks and memory look like idleness
                        */
    struct sketch by_victim, by_pair, by_blocked;
    const struct object_program *taken; /* how much has been stolen by now; NULL: it cannot be asked */
    const struct link *waiting;         /* the iterator over tasks that wait; NULL: none */
    struct cycles *cycles;              /* NULL: not asked for */
};

extern const struct hook_ways sched_ways[];

int sched_load(struct sched_kernel *kernel, const struct source_context *context,
               struct hook_report hooks[MAX_HOOKS], struct error *why);

/* From the clock of a CPU's run queue to that of the programs. A CPU that has not switched yet does not know
 * it; the offsets hardly differ. */
bool sched_clock_offset(const struct sched_kernel *kernel, uint32_t cpu, uint64_t *offset);

#endif
