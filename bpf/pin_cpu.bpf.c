// SPDX-License-Identifier: GPL-2.0-only
/*
 * On-CPU time of every thread since it was pinned, for any number of readers: nothing here is ever reset, and
 * nobody has to be told that somebody reads. Each reader subtracts two looks.
 *
 * A time that goes on is one word that bears both what is known and since when: while a thread is on a CPU,
 * its run_ns is what it had before, less the time at which the stint began. That is negative, and
 * run_ns + now is what it has had by now. So a reader never sees half a switch.
 */
#include "sched/stolen.bpf.h"
#include "lib/exited_threads.bpf.h"
#include "lib/threads.bpf.h"

char gpl[] SEC("license") = "GPL";

struct hog_thread_sums {
    s64 run_ns;   /* on a CPU; negative while it is on one: add the time of CLOCK_MONOTONIC */
    u64 since_ns; /* CLOCK_MONOTONIC when it last came on a CPU */
    u64 switches; /* times that it left one */
    struct hog_thread_name name;
};

struct hog_cpu_sums {
    struct hog_exits exits;
    s64 idle_ns;   /* as run_ns, with nobody on it */
    u64 missed_ns; /* somebody ran whose switch was not seen */
    u64 lost_ns;   /* of threads for which there was no room */
    u64 stolen_ns; /* nobody could run: the hypervisor or an interrupt had the CPU */
    u64 switches;  /* all, idle's too */
    /* For the program alone: who is on it. */
    struct hog_thread cur; /* tid 0: idle */
    u64 cur_task;          /* its task_struct; 0: not known yet */
    u64 cur_since;
    u64 cur_taken; /* what was taken from the CPU until then: see stolen.bpf.h */
    u64 cur_stops; /* it is the stop task: the CPU may go offline from it, and then says nothing more */
};

EXITED_THREADS(struct hog_thread_sums, struct hog_cpu_sums)

#define TASK_DEAD 0x80 /* the same since 4.0 */

static __always_inline u64 state_of(bool direct, struct task_struct *task)
{
    struct task_struct___5_13 *old = (void *)task;

    return kernel_has(task, __state) ? kernel_field(direct, task, __state) : kernel_field(direct, old, state);
}

/* Takes back that it runs, as nobody saw when that ended. */
static __always_inline void forget_stint(struct hog_thread_sums *time)
{
    if (time->run_ns < 0)
        write_once(time->run_ns, time->run_ns + time->since_ns);
}

/* From now on `task` is on the CPU. */
static __always_inline void come(bool direct, struct hog_cpu_sums *c, struct task_struct *task,
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
    forget_stint(time);
    time->since_ns = now;
    /* Of all kernel threads only that has the highest priority of all. It runs for microseconds. */
    c->cur_stops = time->name.kernel && !kernel_field(direct, task, prio);
    if (!c->cur_stops)
        write_once(time->run_ns, time->run_ns - now);
}

/* c->cur leaves the CPU and will not be back: it ends, or goes on by another number (exec). */
static __always_inline void went(bool direct, struct hog_cpu_sums *c, struct hog_thread_sums *time,
                                 struct task_struct *task)
{
    time->switches++;
    if (!(state_of(direct, task) & TASK_DEAD) && (u32)kernel_field(direct, task, pid) == c->cur.tid)
        return;
    bury(c, &c->cur, time);
}

/* Who was on the CPU, as it was noted, leaves it. */
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
    went(direct, c, time, task);
}

/* Takes back that who was noted is on the CPU. */
static __always_inline void take_back(struct hog_cpu_sums *c)
{
    struct hog_thread_sums *time;

    if (!c->cur.tid) {
        write_once(c->idle_ns, c->idle_ns + c->cur_since);
        return;
    }
    time = bpf_map_lookup_elem(&hog_threads, &c->cur);
    if (time && time->since_ns == c->cur_since)
        forget_stint(time);
}

/* What the scheduler itself has counted for the stint that ends, as far as it does. */
static __always_inline u64 counted(bool direct, struct task_struct *task, u64 most)
{
    int prio = kernel_field(direct, task, prio);
    u64 ran = 0;

    if (prio >= 100 && prio < 140)
        ran = kernel_field(direct, task, se.sum_exec_runtime) -
              kernel_field(direct, task, se.prev_sum_exec_runtime);
    return ran > most ? most : ran;
}

/* Another leaves than was noted: some hosts do not report every switch, and a CPU that comes online begins
 * with an idle task that came unseen. Nobody is blamed for what nobody counted. False: it was offline. */
static __always_inline bool unseen(bool direct, struct hog_cpu_sums *c, struct task_struct *task, u64 now)
{
    u32 thread = kernel_field(direct, task, pid);
    u64 ns = now - c->cur_since, ran = 0;
    bool was_offline = c->cur_stops && !thread;

    take_back(c);
    c->cur.tid = thread;
    c->cur.pid = kernel_field(direct, task, tgid);
    c->cur.born_ns = kernel_field(direct, task, start_boottime);
    struct hog_thread_sums *time = thread ? bpf_map_lookup_elem(&hog_threads, &c->cur) : NULL;
    if (time) {
        ran = counted(direct, task, ns);
        forget_stint(time);
        time->run_ns += ran;
        went(direct, c, time, task);
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
    /* Pointers first: see on_switch() in cpu.bpf.c. */
    struct task_struct *leader = kernel_field(direct, next, group_leader);
    struct cred *cred = kernel_field(direct, next, real_cred);
    struct cfs_rq *group = run_queue_known() ? kernel_field(direct, next, se.cfs_rq) : NULL;
    struct rq *rq = run_queue_known() ? kernel_field(direct, group, rq) : NULL;
    u64 clock = run_queue_known() ? kernel_field(direct, rq, clock) : 0;
    u64 now = bpf_ktime_get_ns();
    u64 stolen = taken_since(&c->cur_taken, taken_until(direct, rq, clock), now - c->cur_since);
    if (!c->cur.tid) /* nobody wanted to run */
        stolen = 0;
    c->switches++;
    /* Who leaves gets the stint without what was taken from it: as if it had ended so much earlier. */
    bool counts = true;
    if (c->cur_task == (u64)prev)
        leave(direct, c, prev, now - stolen);
    else if (c->cur_task)
        counts = unseen(direct, c, prev, now - stolen);
    if (counts)
        c->stolen_ns += stolen;
    come(direct, c, next, leader, cred, now);
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

/* Run once on each CPU, so that one who never leaves it is known. */
static __always_inline void seed(bool direct, struct task_struct *task)
{
    struct hog_cpu_sums *c = this_cpu();

    if (!c || c->cur_task)
        return;
    come(direct, c, task, kernel_field(direct, task, group_leader), kernel_field(direct, task, real_cred),
         bpf_ktime_get_ns());
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
