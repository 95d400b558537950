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
    u32 on; /* 0: a wait for a CPU; else a sleep on that: enum hog_sleeps_on */
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

/* Who has slept since before we came does so from now on, by the clock of the CPU where this runs. Of whom
 * only the end will tell is nothing told. */
static __always_inline void tell_sleep(struct seq_file *to, struct task_struct *task, const struct wait *wait)
{
    struct hog_sleep *s = sleep_of(true, task);
    u32 state = state_of(true, task), pcount = task->sched_info.pcount;

    if (!s || (!state && !wait->from))
        return;
    if (s->task != (u64)task || s->pcount != pcount) {
        u32 on = entry_known() && state ? sleeps_on(true, task, state) : HOG_ON_NOTHING;
        if (on < HOG_ON_IO || on > HOG_ON_LOCK)
            return;
        struct task_struct *self = bpf_get_current_task_btf();
        note_sleep(true, task, bpf_get_smp_processor_id(), self->se.cfs_rq->rq->clock, on);
        return;
    }
    if (s->on < HOG_ON_IO || s->on > HOG_ON_LOCK)
        return;
    struct hog_waiting sleep = {
        .task = (u64)task,
        .pcount = pcount,
        .victim = who_is(true, task, task->pid).key,
        .from = s->at,
        .until = wait->from ? wait->from - (task->sched_info.run_delay - s->run_delay) : 0,
        .cpu = s->cpu,
        .on = s->on,
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
