/* SPDX-License-Identifier: GPL-2.0-only */
/* Kernel structs of the scheduler: see task.bpf.h. */
#ifndef HOG_BPF_KERNEL_SCHED_H
#define HOG_BPF_KERNEL_SCHED_H

#include "kernel/helpers.bpf.h"

struct rq {
    u64 clock;                /* ns since boot by the scheduler's clock, as of its latest update */
    u64 clock_task;           /* without stolen time: CONFIG_PARAVIRT_TIME_ACCOUNTING, IRQ_TIME_ACCOUNTING */
    struct task_struct *stop; /* migration/N */
    int cpu;                  /* CONFIG_SMP */
} __relocated;

struct cfs_rq {
    struct rq *rq; /* CONFIG_FAIR_GROUP_SCHED */
    /* ns for which this group or one above it was throttled while it had runnable tasks;
     * CONFIG_CFS_BANDWIDTH. Self: by the clock of the run queue, from 6.6, 677ea015f231. Pelt: from 5.19,
     * 64eaf50731ac. Task: before that. Pelt and task leave out interrupt time. */
    u64 throttled_clock_self_time, throttled_clock_pelt_time, throttled_clock_task_time;
    int throttle_count; /* how many of these groups are throttled now; CONFIG_CFS_BANDWIDTH */
} __relocated;

/* Time spent waiting for a CPU; CONFIG_SCHED_INFO (by TASK_DELAY_ACCT or SCHEDSTATS). */
struct sched_info {
    unsigned long pcount; /* times that the task got a CPU */
    u64 run_delay;        /* ns waited; updated when the task gets a CPU or is moved to another one */
    u64 last_queued;      /* start of the current wait by the clock of its run queue; 0: it does not wait */
    u64 last_arrival;     /* when it last got a CPU, by the clock of its run queue */
} __relocated;

struct sched_entity {
    u64 sum_exec_runtime;        /* ns on CPU since it was created */
    struct cfs_rq *cfs_rq;       /* of its CPU, whatever its class; CONFIG_FAIR_GROUP_SCHED */
    u64 prev_sum_exec_runtime;   /* sum_exec_runtime when it last got a CPU; fair class only */
    unsigned char sched_delayed; /* asleep, but still on the run queue; from 6.12, 152e11f6df29 */
} __relocated;

#endif
