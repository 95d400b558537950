/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs that the reader runs itself: they look at CPUs that do not switch. A part of cpu.bpf.c, whose
 * notes they are about: struct hog_cpu. */
#ifndef HOG_BPF_SCHED_TEST_RUN_H
#define HOG_BPF_SCHED_TEST_RUN_H

#include "sched/cpu.bpf.h"
#include "sched/stolen.bpf.h"
#include "lib/task_key.bpf.h"

/* Run once on each CPU before the first window: notes who is on it, so that one who never leaves is known. */
static __always_inline void seed(u64 task, u32 thread, u64 key)
{
    struct hog_cpu *c = this_cpu();

    if (!c || c->cur_thread != (u32)-1)
        return;
    note_next(c, task, thread, thread ? key : 0, bpf_ktime_get_ns());
}

/* By a pointer of known type (5.11), as lockdown=confidentiality forbids bpf_probe_read_kernel. */
SEC("raw_tp/seed")
int hog_seed_btf(void *ctx)
{
    struct task_struct *task = bpf_get_current_task_btf();
    u32 thread = task->pid;
    struct who who = who_is(true, task, thread);

    seed((u64)task, who.thread, who.key);
    return 0;
}

SEC("raw_tp/seed")
int hog_seed_task(void *ctx)
{
    struct task_struct *task = (void *)bpf_get_current_task();
    u32 thread = kernel_field(false, task, pid);
    struct who who = who_is(false, task, thread);

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

/* Run by the reader after a turn: what has been taken from each CPU, of some, as of the last tick there. Who
 * is noted may leave meanwhile, and his struct be gone; what is read then means nothing, and as his stint has
 * ended, nobody asks for it. */
enum hog_taken {
    HOG_TAKEN_CPUS = 64, /* in one run */
};
const volatile enum hog_taken taken_cpus = HOG_TAKEN_CPUS;

SEC("raw_tp/taken")
int hog_taken(void *ctx)
{
    u32 first = argument(ctx, 0, u64);

    for (u32 i = 0; i < HOG_TAKEN_CPUS && run_queue_known(); i++) {
        struct hog_cpu *c = cpu_of(first + i);
        if (!c)
            break;
        struct task_struct *task = (void *)read_once(c->cur_task);
        struct cfs_rq *group = kernel_field(false, task, se.cfs_rq);
        struct rq *rq = kernel_field(false, group, rq);
        u64 clock = kernel_field(false, rq, clock), taken = taken_until(false, rq, clock);
        if (kernel_has(rq, cpu) && (u32)kernel_field(false, rq, cpu) != first + i)
            taken = c->taken; /* he went to another CPU, and nobody saw it */
        if (kernel_field(false, rq, clock) == clock)
            c->taken_now = taken;
    }
    return 0;
}

#endif
