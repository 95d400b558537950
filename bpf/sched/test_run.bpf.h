/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs that user space runs itself, for CPUs that do not switch. */
#ifndef HOG_BPF_SCHED_TEST_RUN_H
#define HOG_BPF_SCHED_TEST_RUN_H

#include "sched/cpu.bpf.h"
#include "sched/stolen.bpf.h"
#include "lib/cast.bpf.h"
#include "lib/task_key.bpf.h"

/* Run once on each CPU before the first window: notes the running task, so that one that never leaves is
 * known. */
static __always_inline void seed(u64 task, u32 thread, u64 key)
{
    struct hog_cpu *c = this_cpu();

    if (!c || c->cur_thread != (u32)-1)
        return;
    note_next(c, task, thread, thread ? key : 0, bpf_ktime_get_ns());
}

/* By a typed pointer (5.11), as lockdown=confidentiality forbids bpf_probe_read_kernel. */
SEC("raw_tp/seed")
int hog_seed_btf(void *ctx)
{
    struct task_struct *task = bpf_get_current_task_btf();
    u32 thread = task->pid;
    struct task_key who = task_key_of(true, task, cast_task(task)->group_leader, thread);

    seed((u64)task, who.thread, who.key);
    return 0;
}

SEC("raw_tp/seed")
int hog_seed_task(void *ctx)
{
    struct task_struct *task = (void *)bpf_get_current_task();
    u32 thread = kernel_field(false, task, pid);
    struct task_key who = task_key(false, task, thread);

    seed((u64)task, who.thread, who.key);
    return 0;
}

SEC("raw_tp/seed")
int hog_seed_ids(void *ctx)
{
    u32 thread = bpf_get_current_pid_tgid();

    seed(thread, thread, (u64)thread << HOG_KEY_THREAD);
    return 0;
}

/* Run by user space after a flip: the time taken from a range of CPUs, as of their last ticks. The noted task
 * may leave meanwhile, and its struct be freed; the value is meaningless then, but as its timeslice has
 * ended, it is not used. */
enum hog_taken {
    HOG_TAKEN_CPUS = 64, /* per run */
};
const volatile enum hog_taken taken_cpus = HOG_TAKEN_CPUS;

/* A global function: verified once, rather than for each CPU. False: there is no such CPU. */
__attribute__((noinline)) int hog_taken_on(u32 cpu)
{
    struct hog_cpu *c = cpu_of(cpu);

    if (!c || !run_queue_known())
        return false;
    struct task_struct *task = (void *)read_once(c->cur_task);
    struct cfs_rq *group = kernel_field(false, task, se.cfs_rq);
    struct rq *rq = kernel_field(false, group, rq);
    u64 clock = kernel_field(false, rq, clock), taken = taken_until(false, rq, clock);
    if (kernel_has(rq, cpu) && (u32)kernel_field(false, rq, cpu) != cpu)
        taken = c->taken; /* it moved to another CPU without a switch being seen */
    if (kernel_field(false, rq, clock) == clock)
        c->taken_now = taken;
    return true;
}

SEC("raw_tp/taken")
int hog_taken(void *ctx)
{
    u32 first = argument(ctx, 0, u64);

    for (u32 i = 0; i < HOG_TAKEN_CPUS && hog_taken_on(first + i); i++)
        ;
    return 0;
}

#endif
