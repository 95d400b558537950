/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who waits for a CPU, or sleeps otherwise than in idleness, at the turn of a window: read as a file, whose
 * lines are these records. One look at all tasks of the host.
 */
#ifndef HOG_WAITING_BPF_H
#define HOG_WAITING_BPF_H

#include "waits.bpf.h"

struct hog_waiting {
    u64 task, pcount; /* which wait or sleep it is: times that it came on a CPU before */
    u64 victim;
    u64 from;      /* by its run queue's clock; of a sleep: by that of the CPU that it left */
    u64 moved;     /* ns before, on other CPUs */
    u64 throttled; /* ns of it, the first of it; ~0: since then and still */
    u64 until;     /* of a sleep: its end, by the clock of the CPU where it waits now; 0: it goes on */
    u32 cpu;       /* of `from` */
    u32 preempt;
    u32 on; /* 0: a wait for a CPU; else a sleep on that: enum hog_left */
    u32 padding;
};
struct hog_waiting *unused_waiting;

struct bpf_iter_meta {
    struct seq_file *seq;
};

struct bpf_iter__task {
    struct bpf_iter_meta *meta;
    struct task_struct *task;
};

/* One who has slept since before we came: from now on. The clock is that of the CPU where this runs. */
static __always_inline void note_sleeper(struct task_struct *task, struct hog_departure *d, u32 state)
{
    struct task_struct *self = bpf_get_current_task_btf();

    d->run_delay = task->sched_info.run_delay;
    d->at = self->se.cfs_rq->rq->clock;
    d->cpu = bpf_get_smp_processor_id();
    d->left = sleeps_on(true, task, state);
    d->task = (u64)task;
}

/* Of the classes that are told by how long they last, the end decides. */
static __always_inline void tell_sleep(struct seq_file *to, struct task_struct *task, const struct wait *wait)
{
    struct hog_departure *d = departure(true, task);
    u32 state = state_of(true, task);

    if (!d)
        return;
    if (!d->task && state && entry_known())
        note_sleeper(task, d, state);
    if (d->task != (u64)task || d->left < HOG_ON_IO || d->left > HOG_ON_LOCK || (!state && !wait->from))
        return;
    struct hog_waiting sleep = {
        .task = (u64)task,
        .pcount = task->sched_info.pcount,
        .victim = who_is(true, task, task->pid).key,
        .from = d->at,
        .until = wait->from ? wait->from - wait->moved : 0,
        .cpu = d->cpu,
        .on = d->left,
    };
    bpf_seq_write(to, &sleep, sizeof sleep);
}

static __always_inline void tell_wait(struct seq_file *to, struct task_struct *task, struct cfs_rq *cfs_rq,
                                      u32 cpu, const struct wait *wait)
{
    struct hog_waiting waiting = {
        .task = (u64)task,
        .pcount = task->sched_info.pcount,
        .victim = who_is(true, task, task->pid).key,
        .from = wait->from,
        .moved = wait->moved,
        .throttled = wait->throttled,
        .cpu = cpu,
        .preempt = wait->preempt,
    };

    if (kernel_has(cfs_rq, throttle_count) && cfs_rq->throttle_count > 0)
        waiting.throttled = ~0ull;
    bpf_seq_write(to, &waiting, sizeof waiting);
}

SEC("iter/task")
int hog_waiting(struct bpf_iter__task *ctx)
{
    struct task_struct *task = ctx->task;
    struct wait wait = {};

    if (!task || !waits_known())
        return 0;
    /* Once, and first: see on_switch() for what the verifier does at each pointer that is read from a task.
     */
    struct cfs_rq *cfs_rq = task->se.cfs_rq;
    u32 cpu = kernel_has((struct rq *)NULL, cpu) ? cfs_rq->rq->cpu : 0;
    if (task->sched_info.last_queued && wait_of(true, task, cfs_rq, cpu, ~0ull, &wait))
        tell_wait(ctx->meta->seq, task, cfs_rq, cpu, &wait);
    if (count_stalls)
        tell_sleep(ctx->meta->seq, task, &wait);
    return 0;
}

#endif
