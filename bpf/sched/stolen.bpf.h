/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Time taken from the tasks of a CPU: by the hypervisor or, if the kernel counts these separately, by
 * interrupts.
 *
 * The scheduler has a clock per CPU that stands still meanwhile, in addition to one that does not; the CPU
 * clocks of tasks, /proc/PID/schedstat and everything derived from them use the former. The difference
 * between the two is the time taken since boot.
 */
#ifndef HOG_BPF_SCHED_STOLEN_H
#define HOG_BPF_SCHED_STOLEN_H

#include "sched/run_queue.bpf.h"

/* ns since boot, at the reading `clock` of the run queue. 0 if no kernel struct has it. */
static __always_inline u64 taken_until(bool direct, struct rq *rq, u64 clock)
{
    return run_queue_known() && kernel_has(rq, clock_task) ? clock - kernel_field(direct, rq, clock_task) : 0;
}

/* The part of a completed timeslice of `ns` that was taken; sets `before` (0: no earlier value) to `taken`.
 */
static __always_inline u64 taken_since(u64 *before, u64 taken, u64 ns)
{
    u64 more = *before && taken > *before ? taken - *before : 0;

    *before = taken;
    return more < ns ? more : ns;
}

#endif
