// SPDX-License-Identifier: GPL-2.0-only
/*
 * On-CPU time by process or thread, from context switches.
 *
 * Each CPU notes the running task and since when; a switch credits that time to it. A timeslice in progress
 * at the flip of a window counts, too: user space finds it in `cur` and `since`, or, if a switch came between
 * the flip and its read, in `flip_cur` and `flip_since`.
 *
 * Every nanosecond of a CPU goes to exactly one of: a key, idle, other (a process that was not asked for),
 * missed (a task ran whose switch was not seen), stolen (no task could run), lost (dropped by the sketch),
 * offline. Tests check that sum.
 */
#include "lib/exit_names.bpf.h"
#include "lib/exact_maps.bpf.h"
#include "lib/sketch.bpf.h"
#include "kernel/task.bpf.h"
#include "sched/stolen.bpf.h"
#include "sched/waiting.bpf.h"
#include "sched/waits.bpf.h"
#include "sched/cpu.bpf.h"
#include "sched/switch_clock.bpf.h"
#include "lib/task_key.bpf.h"
#include "lib/task_hooks.bpf.h"

char gpl[] SEC("license") = "GPL";

struct {
    __uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
    __uint(key_size, sizeof(u32));
    __uint(value_size, sizeof(u32));
} hog_cycles SEC(".maps");

/* Lossless, with --exact and for chosen processes: a hash map a bank. */
struct hog_time {
    u64 ns, switches;
};
EXACT_MAPS(struct hog_time);
TRACKED_MAP;

const volatile bool exact, only_tracked;
/* Offsets of fields of the classic tracepoints, from tracefs. */
const volatile u32 switch_prev_pid = 24, switch_next_pid = 56, switch_next_prio = 60;

static __always_inline bool exact_add(void *map, u64 key, u64 ns)
{
    struct hog_time *time = bpf_map_lookup_elem(map, &key);
    struct hog_time first = {};

    if (!time) {
        /* BPF_NOEXIST and a second lookup: another CPU may have been first. */
        bpf_map_update_elem(map, &key, &first, BPF_NOEXIST);
        time = bpf_map_lookup_elem(map, &key);
        if (!time)
            return false;
    }
    __sync_fetch_and_add(&time->ns, ns);
    __sync_fetch_and_add(&time->switches, 1);
    return true;
}

static __always_inline void credit(struct hog_cpu *c, u32 flip, u64 key, u64 ns)
{
    if (!exact) {
        pipe_add(&c->pipe, c->slots, flip, key, ns, 1);
        return;
    }
    if (only_tracked) {
        u32 process = process_of(key);
        if (!bpf_map_lookup_elem(&hog_tracked, &process)) {
            c->other[pipe_bank(flip)] += ns;
            return;
        }
    }
    if (!(pipe_bank(flip) ? exact_add(&hog_exact_1, key, ns) : exact_add(&hog_exact_0, key, ns))) {
        c->pipe.lost_weight[pipe_bank(flip)] += ns;
        c->pipe.lost_count[pipe_bank(flip)]++;
    }
}

/* Cycles are counted together with time, but only in the sketch's slots: the weight is time. */
static __always_inline void credit_cycles(struct hog_cpu *c, u32 flip, u64 key, u64 ns, u64 cycles)
{
    struct hog_cycles_slot *slot = pipe_slot(&c->pipe, c->slots, flip, key, ns, 1, sizeof *slot);

    if (!slot)
        return;
    if (slot->slot.count == 1) /* newly taken */
        slot->cycles = 0;
    slot->cycles += cycles;
}

/* Cycles since the last switch. An event that cannot be read, or was restarted (its CPU was offline), counts
 * from 0. */
static __always_inline u64 take_cycles(struct hog_cpu *c, bool first)
{
    struct bpf_perf_event_value value = {};
    u64 before = c->cycles;

    bpf_perf_event_read_value(&hog_cycles, BPF_F_CURRENT_CPU, &value, sizeof value);
    if (unlikely(first)) {
        c->flip_cycles = before;
        c->flip_cycles_end = value.counter;
    }
    c->cycles = value.counter;
    return value.counter > before ? value.counter - before : 0;
}

/* Begins an event and returns its flip. The task that ran at the flip is kept for user space. */
static __always_inline u32 enter(struct hog_cpu *c, bool *first)
{
    u32 flip = pipe_enter(&c->pipe, first);

    if (unlikely(*first)) {
        c->flip_cur = c->cur;
        c->flip_since = c->since;
    }
    return flip;
}

/* Whether this is the first switch of a CPU that has come online. It went offline from its stop task, and as
 * tracepoints are silent on a CPU that is not online, the switch to its idle task was not seen. */
static __always_inline bool came_online(bool direct, struct hog_cpu *c, struct task_struct *prev,
                                        struct rq *rq)
{
    if (kernel_field(direct, prev, pid))
        return false;
    if (c->cur_thread == (u32)-1)
        return c->stops;
    if (!run_queue_known())
        return false;
    return c->cur_task == (u64)kernel_field(direct, rq, stop);
}

/* The task that leaves is not the one noted: there was no switch yet, or one was missed (some hosts do not
 * report every switch). The task gets what the scheduler itself counted for this timeslice, as far as it
 * does; only the rest is missed. Returns its time. */
static __always_inline u64 unnoted_time(bool direct, struct hog_cpu *c, u32 flip, struct task_struct *task,
                                        u64 ns)
{
    int prio = kernel_field(direct, task, prio);
    u64 ran = 0;

    if (c->cur_thread != (u32)-1 && kernel_field(direct, task, pid) && prio >= 100 && prio < 140)
        ran = kernel_field(direct, task, se.sum_exec_runtime) -
              kernel_field(direct, task, se.prev_sum_exec_runtime);
    if (ran > ns)
        ran = ns;
    c->missed[pipe_bank(flip)] += ns - ran;
    return ran;
}

/* `waits` and `cycles` are compile-time constants: separate programs, so that a view loads only what it
 * needs. */
static __always_inline void on_switch(bool direct, bool waits, bool cycles, struct task_struct *prev,
                                      struct task_struct *next)
{
    u32 cpu = bpf_get_smp_processor_id();
    struct hog_cpu *c = cpu_of(cpu);

    if (!c)
        return;
    bool first;
    u32 flip = enter(c, &first), coming = kernel_field(direct, next, pid);
    u64 spent = cycles ? take_cycles(c, first) : 0;
    /* Pointers first: for each one that is read from a task, the verifier searches all types of the kernel
     * (6.3, 6fcd486b3a0a), once per path. */
    bool clocked = run_queue_known();
    struct cfs_rq *group = clocked ? kernel_field(direct, next, se.cfs_rq) : NULL, *left_group = NULL;
    if (waits && waits_known() && count_pairs)
        left_group = kernel_field(direct, prev, se.cfs_rq);
    struct task_struct *leader = direct ? kernel_field(direct, prev, group_leader) : NULL;
    struct task_key who = {};
    if (coming)
        who = task_key(direct, next, coming);
    /* The scheduler has just updated its clock for this switch. */
    struct rq *rq = clocked ? kernel_field(direct, group, rq) : NULL;
    u64 clock = clocked ? kernel_field(direct, rq, clock) : 0;
    u64 now = switch_time(direct, waits, c, first, clock);
    u64 key = c->cur, ns = now - c->since;

    if (unlikely((s64)ns < 0)) { /* after a comparison of clocks */
        now = c->since;
        ns = 0;
    }
    u64 stolen = taken_since(&c->taken, taken_until(direct, rq, clock), ns);

    if (!key) /* no task was runnable */
        stolen = 0;
    ns -= stolen;
    /* Compared by address: a thread that calls exec may get another id while it runs. */
    if (unlikely(c->cur_task != (u64)prev)) {
        if (came_online(direct, c, prev, rq)) {
            now = bpf_ktime_get_ns();
            c->offline[pipe_bank(flip)] += now - c->since;
            c->since = now;
            c->clock_compared = CLOCK_UNKNOWN;
            c->clock_offset = CLOCK_UNKNOWN - 1;
            c->clock_doubted = now;
            ns = stolen = 0;
        }
        u64 all = ns;
        ns = unnoted_time(direct, c, flip, prev, ns);
        if (cycles && ns < all)
            spent = (spent << 8) / all * ns >> 8;
        if (!direct)
            leader = kernel_field(direct, prev, group_leader);
        key = ns ? task_key_of(direct, prev, leader, kernel_field(direct, prev, pid)).key : 0;
    } else if (!key) {
        c->idle[pipe_bank(flip)] += ns;
    }
    c->stolen[pipe_bank(flip)] += stolen;
    if (unlikely(first))
        c->flip_stolen = stolen;
    if (key && cycles)
        credit_cycles(c, flip, key, ns, spent);
    else if (key)
        credit(c, flip, key, ns);
    if (waits && waits_known()) {
        u64 left = c->cur_task == (u64)prev ? c->cur : key;
        waits_switch(direct, cpu, flip, (struct switched){prev, left_group, left},
                     (struct switched){next, group, who.key}, clock);
    }
    note_next(c, (u64)next, who.thread, who.key, now);
    pipe_leave(&c->pipe);
}

SEC("tp_btf/sched_switch")
int hog_switch_btf(void *ctx)
{
    on_switch(true, false, false, argument(ctx, 1, struct task_struct *),
              argument(ctx, 2, struct task_struct *));
    return 0;
}

SEC("raw_tp/sched_switch")
int hog_switch_raw(void *ctx)
{
    on_switch(false, false, false, argument(ctx, 1, struct task_struct *),
              argument(ctx, 2, struct task_struct *));
    return 0;
}

SEC("tp_btf/sched_switch")
int hog_switch_waits_btf(void *ctx)
{
    on_switch(true, true, false, argument(ctx, 1, struct task_struct *),
              argument(ctx, 2, struct task_struct *));
    return 0;
}

SEC("raw_tp/sched_switch")
int hog_switch_waits_raw(void *ctx)
{
    on_switch(false, true, false, argument(ctx, 1, struct task_struct *),
              argument(ctx, 2, struct task_struct *));
    return 0;
}

SEC("tp_btf/sched_switch")
int hog_switch_cycles_btf(void *ctx)
{
    on_switch(true, false, true, argument(ctx, 1, struct task_struct *),
              argument(ctx, 2, struct task_struct *));
    return 0;
}

static __always_inline u32 traced_field(void *ctx, u32 offset)
{
    u32 value = 0;

    bpf_probe_read_kernel(&value, sizeof value, ctx + offset);
    return value;
}

SEC("tracepoint/sched/sched_switch")
int hog_switch_tp(void *ctx)
{
    struct hog_cpu *c = this_cpu();

    if (!c)
        return 0;
    bool first;
    u64 now = bpf_ktime_get_ns();
    u32 flip = enter(c, &first);
    u32 leaving = traced_field(ctx, switch_prev_pid), coming = traced_field(ctx, switch_next_pid);
    u64 ns = now - c->since;

    if (unlikely(c->stops && !leaving)) /* see came_online() */
        c->offline[pipe_bank(flip)] += ns;
    else if (unlikely(c->cur_thread != leaving))
        c->missed[pipe_bank(flip)] += ns;
    else if (!leaving)
        c->idle[pipe_bank(flip)] += ns;
    else
        credit(c, flip, current_key(), ns);
    note_next(c, coming, coming, (u64)coming << HOG_KEY_THREAD, now);
    c->stops =
        !traced_field(ctx, switch_next_prio); /* a real-time task of the highest priority looks the same */
    pipe_leave(&c->pipe);
    return 0;
}

FORK_HOOK

#include "sched/test_run.bpf.h"

/* The weight of an exited task is the time that it ran. */
static __always_inline void keep_name(const struct exit_name *exit_name, u64 run_ns)
{
    struct hog_cpu *c = this_cpu();

    if (!c)
        return;
    s64 ending = bpf_ktime_get_ns() - c->since; /* the current timeslice; its start is by another clock */
    u64 run = (run_ns + (ending > 0 ? (u64)ending : 0)) >> 16;
    exit_name_keep(c->exit_names, exit_name, run);
}

static __always_inline void on_exit(bool direct, struct task_struct *task)
{
    struct signal_struct *signal = kernel_field(direct, task, signal);
    struct exit_name exit_name;

    if (!exit_ends_key(direct, signal))
        return;
    u64 run = kernel_field(direct, task, se.sum_exec_runtime);
    if (!keys.by_thread)
        run += kernel_field(direct, signal, sum_sched_runtime);
    if (exit_name_describe(direct, task, &exit_name))
        keep_name(&exit_name, run);
}

EXIT_HOOKS(on_exit)

EXIT_HOOK_CLASSIC(keep_name)

SEC("iter/task")
int hog_waiting(struct bpf_iter__task *ctx)
{
    struct hog_cpu *c = this_cpu();

    if (!ctx->task || !c)
        return 0;
    scan_task(ctx->meta->seq, (struct scanned){.task = ctx->task,
                                               .clock_offset = c->clock_offset,
                                               .clock_compared = c->clock_compared});
    return 0;
}
