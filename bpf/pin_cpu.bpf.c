// SPDX-License-Identifier: GPL-2.0-only
/*
 * On-CPU time of every thread since it was pinned, for any number of readers: nothing is ever reset, and
 * readers need not register. Each reader subtracts two snapshots.
 *
 * A time in progress is a single word that holds both the sum and the start: while a thread is on a CPU, its
 * run_ns is the sum so far minus the start of the timeslice. That is negative, and run_ns + now is the time
 * up to now. So a reader never sees half a switch.
 */
#include "sched/stolen.bpf.h"
#include "lib/exited_threads.bpf.h"
#include "lib/threads.bpf.h"

char gpl[] SEC("license") = "GPL";

struct hog_thread_sums {
    s64 run_ns;   /* on a CPU; negative while it runs: add CLOCK_MONOTONIC */
    u64 since_ns; /* CLOCK_MONOTONIC when it last got a CPU */
    u64 switches; /* times that it left a CPU */
    struct hog_thread_name name;
};

struct hog_cpu_sums {
    struct hog_exits exits;
    s64 idle_ns;   /* like run_ns, for the idle task */
    u64 missed_ns; /* a task ran whose switch was not seen */
    u64 lost_ns;   /* of threads for which there was no room */
    u64 stolen_ns; /* no task could run: the hypervisor or an interrupt had the CPU */
    u64 switches;  /* all, including idle's */
    /* Private to the program: the running thread. */
    struct hog_thread cur; /* tid 0: idle */
    u64 cur_task;          /* its task_struct; 0: unknown yet */
    u64 cur_since;
    u64 cur_taken; /* what had been taken from the CPU by then: see stolen.bpf.h */
    u64 cur_stops; /* it is the stop task: the CPU may go offline after it, without another event */
};

EXITED_THREADS(struct hog_thread_sums, struct hog_cpu_sums)

#define TASK_DEAD 0x80 /* unchanged since 4.0 */

static __always_inline u64 state_of(bool direct, struct task_struct *task)
{
    struct task_struct___5_13 *old = (void *)task;

    return kernel_has(task, __state) ? kernel_field(direct, task, __state) : kernel_field(direct, old, state);
}

/* Removes a timeslice in progress whose end was not seen. */
static __always_inline void drop_timeslice(struct hog_thread_sums *time)
{
    if (time->run_ns < 0)
        write_once(time->run_ns, time->run_ns + time->since_ns);
}

/* From now on `task` is on the CPU. */
static __always_inline void start_run(bool direct, struct hog_cpu_sums *c, struct task_struct *task,
                                      struct task_struct *leader, struct cred *cred, u64 now)
{
    u32 thread = kernel_field(direct, task, pid);

    c->cur_task = (u64)task;
    c->cur_since = now;
    c->cur_stops = 0;
    c->cur.tid = thread;
    if (!thread) {
        write_once(c->idle_ns, c->idle_ns - now);
        return;
    }
    c->cur.pid = kernel_field(direct, task, tgid);
    c->cur.born_ns = kernel_field(direct, task, start_boottime);
    struct hog_thread_sums *time = sums_of(c, &c->cur);
    if (!time)
        return;
    thread_name(direct, &time->name, task, leader, cred);
    drop_timeslice(time);
    time->since_ns = now;
    /* Among kernel threads, only the stop task has the highest priority. It runs for microseconds. */
    c->cur_stops = time->name.kernel && !kernel_field(direct, task, prio);
    if (!c->cur_stops)
        write_once(time->run_ns, time->run_ns - now);
}

/* c->cur leaves the CPU for good: it exits, or continues with another id (exec). */
static __always_inline void finish_run(bool direct, struct hog_cpu_sums *c, struct hog_thread_sums *time,
                                       struct task_struct *task)
{
    time->switches++;
    if (!(state_of(direct, task) & TASK_DEAD) && (u32)kernel_field(direct, task, pid) == c->cur.tid)
        return;
    move_to_exited(c, &c->cur, time);
}

/* The noted thread leaves the CPU. */
static __always_inline void leave(bool direct, struct hog_cpu_sums *c, struct task_struct *task, u64 now)
{
    if (!c->cur.tid) {
        write_once(c->idle_ns, c->idle_ns + now);
        return;
    }
    struct hog_thread_sums *time = bpf_map_lookup_elem(&hog_threads, &c->cur);
    if (!time) {
        c->lost_ns += now - c->cur_since;
        c->exits.lost++;
        return;
    }
    if (c->cur_stops)
        time->run_ns += now - c->cur_since;
    else if (time->run_ns < 0 && time->since_ns == c->cur_since)
        write_once(time->run_ns, time->run_ns + now);
    finish_run(direct, c, time, task);
}

/* Removes the timeslice in progress of the noted thread. */
static __always_inline void drop_current(struct hog_cpu_sums *c)
{
    struct hog_thread_sums *time;

    if (!c->cur.tid) {
        write_once(c->idle_ns, c->idle_ns + c->cur_since);
        return;
    }
    time = bpf_map_lookup_elem(&hog_threads, &c->cur);
    if (time && time->since_ns == c->cur_since)
        drop_timeslice(time);
}

/* The part of the timeslice that the scheduler itself has counted. */
static __always_inline u64 counted(bool direct, struct task_struct *task, u64 most)
{
    int prio = kernel_field(direct, task, prio);
    u64 ran = 0;

    if (prio >= 100 && prio < 140)
        ran = kernel_field(direct, task, se.sum_exec_runtime) -
              kernel_field(direct, task, se.prev_sum_exec_runtime);
    return ran > most ? most : ran;
}

/* Another thread leaves than was noted: some hosts do not report every switch, and a CPU that comes online
 * starts with an idle task whose switch was not seen. Time that was not observed is charged to no thread.
 * False: the CPU was offline. */
static __always_inline bool unseen(bool direct, struct hog_cpu_sums *c, struct task_struct *task, u64 now)
{
    u32 thread = kernel_field(direct, task, pid);
    u64 ns = now - c->cur_since, ran = 0;
    bool was_offline = c->cur_stops && !thread;

    drop_current(c);
    c->cur.tid = thread;
    c->cur.pid = kernel_field(direct, task, tgid);
    c->cur.born_ns = kernel_field(direct, task, start_boottime);
    struct hog_thread_sums *time = thread ? bpf_map_lookup_elem(&hog_threads, &c->cur) : NULL;
    if (time) {
        ran = counted(direct, task, ns);
        drop_timeslice(time);
        time->run_ns += ran;
        finish_run(direct, c, time, task);
    }
    if (was_offline)
        return false;
    c->missed_ns += ns - ran;
    return true;
}

static __always_inline void on_switch(bool direct, struct task_struct *prev, struct task_struct *next)
{
    struct hog_cpu_sums *c = this_cpu();

    if (!c)
        return;
    /* Pointers first: see on_switch() in sched.bpf.c. */
    struct task_struct *leader = kernel_field(direct, next, group_leader);
    struct cred *cred = kernel_field(direct, next, real_cred);
    struct cfs_rq *group = run_queue_known() ? kernel_field(direct, next, se.cfs_rq) : NULL;
    struct rq *rq = run_queue_known() ? kernel_field(direct, group, rq) : NULL;
    u64 clock = run_queue_known() ? kernel_field(direct, rq, clock) : 0;
    u64 now = bpf_ktime_get_ns();
    u64 stolen = taken_since(&c->cur_taken, taken_until(direct, rq, clock), now - c->cur_since);
    if (!c->cur.tid) /* no task was runnable */
        stolen = 0;
    c->switches++;
    /* The timeslice counts without the stolen part: as if it had ended that much earlier. */
    bool counts = true;
    if (c->cur_task == (u64)prev)
        leave(direct, c, prev, now - stolen);
    else if (c->cur_task)
        counts = unseen(direct, c, prev, now - stolen);
    if (counts)
        c->stolen_ns += stolen;
    start_run(direct, c, next, leader, cred, now);
}

SEC("tp_btf/sched_switch")
int hog_switch_btf(void *ctx)
{
    on_switch(true, argument(ctx, 1, struct task_struct *), argument(ctx, 2, struct task_struct *));
    return 0;
}

SEC("raw_tp/sched_switch")
int hog_switch_raw(void *ctx)
{
    on_switch(false, argument(ctx, 1, struct task_struct *), argument(ctx, 2, struct task_struct *));
    return 0;
}

/* Run once on each CPU, so that a thread that never leaves it is known. */
static __always_inline void seed(bool direct, struct task_struct *task)
{
    struct hog_cpu_sums *c = this_cpu();

    if (!c || c->cur_task)
        return;
    start_run(direct, c, task, kernel_field(direct, task, group_leader),
              kernel_field(direct, task, real_cred), bpf_ktime_get_ns());
}

SEC("raw_tp/seed")
int hog_seed_btf(void *ctx)
{
    seed(true, bpf_get_current_task_btf());
    return 0;
}

SEC("raw_tp/seed")
int hog_seed_task(void *ctx)
{
    seed(false, (void *)bpf_get_current_task());
    return 0;
}
