/* SPDX-License-Identifier: GPL-2.0-only */
/* From a task to the run queue of its CPU, whose clocks the scheduler has just updated at a switch. */
#ifndef HOG_BPF_SCHED_RUN_QUEUE_H
#define HOG_BPF_SCHED_RUN_QUEUE_H

#include "kernel/task.bpf.h"

/* By task->se.cfs_rq->rq; needs CONFIG_FAIR_GROUP_SCHED. */
static __always_inline bool run_queue_known(void)
{
    return kernel_has((struct sched_entity *)NULL, cfs_rq) && kernel_has((struct cfs_rq *)NULL, rq);
}

#endif
