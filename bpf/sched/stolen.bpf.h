/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a CPU took from its tasks: the hypervisor had it, or, where the kernel counts these apart, an
 * interrupt.
 *
 * The scheduler has a clock of each CPU that stands still then, beside the one that goes on; the CPU clocks
 * of tasks, /proc/PID/schedstat and all that is made from them are by that. How far the two are apart has
 * been taken since boot.
 */
#ifndef HOG_BPF_SCHED_STOLEN_H
#define HOG_BPF_SCHED_STOLEN_H

#include "sched/run_queue.bpf.h"

/* ns since boot, as of the reading `clock` of the run queue. 0 where no kernel struct tells. */
static __always_inline u64 taken_until(bool direct, struct rq *rq, u64 clock)
{
    return run_queue_known() && kernel_has(rq, clock_task) ? clock - kernel_field(direct, rq, clock_task) : 0;
}

/* ns of a stint of `ns` that has ended, since `before` (0: nobody looked yet), which is brought to `taken`.
 */
static __always_inline u64 taken_since(u64 *before, u64 taken, u64 ns)
{
    u64 more = *before && taken > *before ? taken - *before : 0;

    *before = taken;
    return more < ns ? more : ns;
}

#endif
