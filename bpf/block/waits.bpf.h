/* SPDX-License-Identifier: GPL-2.0-only */
/* How long threads sleep for I/O: the kernel marks a task that sleeps in io_schedule(), from before it leaves
 * its CPU until after it is back. */
#ifndef HOG_BPF_BLOCK_WAITS_H
#define HOG_BPF_BLOCK_WAITS_H

#include "block/block.bpf.h"
#include "block/cpu.bpf.h"
#include "sched/run_queue.bpf.h"

/* A thread that sleeps for I/O, in the place that its number leads to: of two threads that share a place, the
 * first is tracked. The last one to sleep there keeps the place and the sum of its sleeps, so most sleeps
 * create no key and look up no sum. */
struct hog_io_sleep {
    u64 task;   /* 0: no sleeper */
    u64 since;  /* ns, CLOCK_MONOTONIC */
    u64 key;    /* of the sleeper, or the last one */
    u64 slept;  /* ns, in completed sleeps; older sums are in hog_io_slept */
    u64 owner;  /* the task that the key stands for */
    u64 thread; /* and its number */
};
#define SLEEPS 4096
struct hog_io_sleeps {
    struct hog_io_sleep sleeps[SLEEPS];
};
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct hog_io_sleeps);
} hog_io_sleeps SEC(".maps");

/* Sums of completed sleeps of tasks that lost their place to others. When pinned: of all tasks. */
struct hog_io_slept {
    u64 ns;
};
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 4096);
    __type(key, u64);
    __type(value, struct hog_io_slept);
} hog_io_slept SEC(".maps");

const volatile bool sums_by_key;

static __always_inline struct hog_io_sleep *sleep_of(u32 thread)
{
    u32 first = 0;
    struct hog_io_sleeps *table = bpf_map_lookup_elem(&hog_io_sleeps, &first);

    return table ? &table->sleeps[thread % SLEEPS] : NULL;
}

static __attribute__((noinline)) int slept(u64 key, u64 ns)
{
    struct hog_io_slept *sum = bpf_map_lookup_elem(&hog_io_slept, &key);

    if (!sum) {
        struct hog_io_slept none = {};
        bpf_map_update_elem(&hog_io_slept, &key, &none, BPF_NOEXIST);
        sum = bpf_map_lookup_elem(&hog_io_slept, &key);
    }
    if (sum)
        add(sum->ns, ns);
    return 0;
}

/* The clock of the task's run queue at this switch; 0: unknown. */
static __always_inline u64 queue_clock(bool direct, struct task_struct *task)
{
    if (!run_queue_known())
        return 0;
    struct cfs_rq *cfs_rq = kernel_field(direct, task, se.cfs_rq);
    struct rq *rq = kernel_field(direct, cfs_rq, rq);
    return kernel_field(direct, rq, clock);
}

/* CLOCK_MONOTONIC in ns at a switch, derived from the clock that the scheduler has just read, which is
 * cheaper than reading one; as in sched/switch_clock.bpf.h. That reading can be old if a virtual CPU stood
 * still, so the offset between the two grows no faster than NTP slews (1/2048). */
#define COMPARE_NS  (1ull << 24)
#define DRIFT_SHIFT 11
static __always_inline u64 switch_time(u64 clock)
{
    u32 cpu = bpf_get_smp_processor_id();
    struct hog_block_cpu *c = clock ? bpf_map_lookup_elem(&hog_sketch, &cpu) : NULL;

    if (!c)
        return bpf_ktime_get_ns();
    u64 passed = clock - c->clock_compared;
    if (unlikely(passed > COMPARE_NS)) {
        u64 apart = bpf_ktime_get_ns() - clock, most = c->clock_offset + (passed >> DRIFT_SHIFT);
        if (c->clock_compared && (s64)(apart - most) > 0)
            apart = most;
        c->clock_offset = apart;
        c->clock_compared = clock;
    }
    return clock + c->clock_offset;
}

/* For a task other than the last one that slept there. False: it was not asked for. */
static __attribute__((noinline)) bool sleep_take(bool direct, struct hog_io_sleep *s,
                                                 struct task_struct *task, u32 thread)
{
    u64 key = task_key(direct, task, thread).key;

    if (!is_asked_for(key))
        return false;
    if (s->slept)
        slept(s->key, s->slept);
    s->slept = 0;
    s->key = key;
    s->owner = (u64)task;
    s->thread = thread;
    return true;
}

static __always_inline void on_sleep(bool direct, struct task_struct *task)
{
    u32 thread = kernel_field(direct, task, pid);
    struct hog_io_sleep *s = sleep_of(thread);

    if (!s || (s->task && s->task != (u64)task))
        return;
    if ((s->owner != (u64)task || s->thread != thread) &&
        !(direct ? sleep_take(true, s, task, thread) : sleep_take(false, s, task, thread)))
        return;
    s->since = switch_time(queue_clock(direct, task));
    barrier();
    write_once(s->task, (u64)task);
}

/* It slept until its wakeup; from then on it waited for this CPU. */
static __always_inline void on_wake(bool direct, struct task_struct *task)
{
    struct hog_io_sleep *s = sleep_of(kernel_field(direct, task, pid));

    if (!s || s->task != (u64)task)
        return;
    u64 clock = queue_clock(direct, task), now = switch_time(clock), queued = 0;
    if (clock && kernel_has((struct sched_info *)NULL, last_queued))
        queued = kernel_field(direct, task, sched_info.last_queued);
    if (queued && clock > queued)
        now -= clock - queued;
    u64 ns = (s64)(now - s->since) > 0 ? now - s->since : 0;
    if (sums_by_key)
        slept(s->key, ns);
    else
        write_once(s->slept, s->slept + ns);
    write_once(s->task, 0);
}

static __always_inline void on_switch(bool direct, bool preempt, struct task_struct *prev,
                                      struct task_struct *next)
{
    u64 prev_waits = kernel_bit(direct, prev, in_iowait), next_waited = kernel_bit(direct, next, in_iowait);

    if (prev_waits && !preempt)
        on_sleep(direct, prev);
    if (next_waited)
        on_wake(direct, next);
}

#endif
