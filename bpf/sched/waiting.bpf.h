/* SPDX-License-Identifier: GPL-2.0-only */
/* Tasks that wait for a CPU, or sleep without idling, at the flip of a window: an iterator over all tasks,
 * read as a file of these records. */
#ifndef HOG_BPF_SCHED_WAITING_H
#define HOG_BPF_SCHED_WAITING_H

#include "lib/cast.bpf.h"
#include "sched/waits.bpf.h"

struct hog_waiting {
    u64 task, pcount; /* identifies the wait or sleep: times that it had got a CPU before */
    u64 victim;
    u64 from;      /* by its run queue's clock; of a sleep: by that of the CPU that it left */
    u64 moved;     /* ns before that, on other CPUs */
    u64 throttled; /* ns, the first part of the wait; ~0: it is throttled now */
    u64 until;     /* of a sleep: its end, by the clock of the CPU where it waits now; 0: it continues */
    u32 cpu;       /* of `from` */
    u32 preempt;
    u32 on;     /* 0: a wait for a CPU; else the enum hog_sleeps_on of a sleep */
    u32 holder; /* thread that has the lock, if that is known */
};
struct hog_waiting *unused_waiting;

/* A task of the snapshot, and the clock of the CPU where the iterator runs: how far CLOCK_MONOTONIC is ahead
 * of it (0: unknown), and when it was last compared. */
struct scanned {
    struct task_struct *task;
    struct cfs_rq *cfs_rq;
    u64 key;
    u32 cpu;
    u64 clock_offset, clock_compared;
};

/* It counts whenever it ends. */
static __always_inline bool is_known_sleep(u32 on)
{
    return on >= HOG_ON_IO && on < HOG_ON_LOCK_IF_SHORT && on != HOG_ON_TIMED;
}

/* A sleep that began before hog started counts from now on. Sleeps whose kind only their end shows are left
 * out. */
static __always_inline void start_sleep(const struct scanned *at, u32 state)
{
    bool clocked = at->clock_offset && at->clock_compared < CLOCK_UNKNOWN;
    struct sleep_cause cause = {};

    if (clocked && state)
        cause = sleeps_on(true, at->task, state, false, 0);
    if (is_known_sleep(cause.on))
        note_sleep(true, at->task, bpf_get_smp_processor_id(), bpf_ktime_get_ns() - at->clock_offset, cause);
}

static __always_inline void report_sleep(struct seq_file *to, const struct scanned *at,
                                         const struct wait *wait)
{
    struct task_struct *task = at->task;
    struct hog_sleep *s = sleep_of(true, task);
    u32 state = state_of(true, task), pcount = task->sched_info.pcount;

    if (!s || (!state && !wait->from))
        return;
    if (s->task != (u64)task || s->pcount != pcount) {
        start_sleep(at, state);
        return;
    }
    if (!is_known_sleep(s->on))
        return;
    struct hog_waiting sleep = {
        .task = (u64)task,
        .pcount = pcount,
        .victim = at->key,
        .from = s->at,
        .until = wait->from ? wait->from - (task->sched_info.run_delay - s->run_delay) : 0,
        .cpu = s->cpu,
        .on = s->on,
        .holder = s->holder,
    };
    bpf_seq_write(to, &sleep, sizeof sleep);
}

static __always_inline void report_wait(struct seq_file *to, const struct scanned *at,
                                        const struct wait *wait)
{
    struct hog_waiting waiting = {
        .task = (u64)at->task,
        .pcount = at->task->sched_info.pcount,
        .victim = at->key,
        .from = wait->from,
        .moved = wait->moved,
        .throttled = wait->throttled,
        .cpu = at->cpu,
        .preempt = wait->preempt,
    };

    if (kernel_has(at->cfs_rq, throttle_count) && at->cfs_rq->throttle_count > 0)
        waiting.throttled = ~0ull;
    bpf_seq_write(to, &waiting, sizeof waiting);
}

/* From 6.12 on, a sleeping task can have last_queued set: from when it was about to leave the run queue. */
static __always_inline bool could_run(struct task_struct *task)
{
    if (kernel_has(task, on_rq) && !task->on_rq)
        return false;
    return !kernel_has(task, se.sched_delayed) || !task->se.sched_delayed;
}

static __always_inline void scan_task(struct seq_file *to, struct scanned at)
{
    struct task_struct *task = at.task;
    struct wait wait = {};

    if (!waits_known() || (!count_blocked && !task->sched_info.last_queued))
        return;
    struct task_struct *cast = cast_task(task);
    at.cfs_rq = cast->se.cfs_rq;
    at.key = task_key_of(true, task, cast->group_leader, task->pid).key;
    at.cpu = kernel_has((struct rq *)NULL, cpu) ? at.cfs_rq->rq->cpu : 0;
    if (could_run(task) && wait_of(true, task, at.cfs_rq, at.cpu, ~0ull, &wait))
        report_wait(to, &at, &wait);
    if (count_blocked)
        report_sleep(to, &at, &wait);
}

#endif
