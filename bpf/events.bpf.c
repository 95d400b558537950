// SPDX-License-Identifier: GPL-2.0-only
/*
 * What happens to processes: exec, exit, and kills for lack of memory, an event each.
 *
 * Events go through a ring buffer, or a perf buffer where there is none. Whatever cannot be sent is counted,
 * by kind.
 */
#include "kernel/task.bpf.h"
#include "lib/exact_maps.bpf.h"
#include "lib/exit_names.bpf.h"
#include "lib/prefilter.bpf.h"
#include "lib/task_key.bpf.h"

char gpl[] SEC("license") = "GPL";

TRACKED_MAP;
const volatile bool only_tracked;

enum hog_event_kind { HOG_EXEC, HOG_EXIT, HOG_OOM_KILL, HOG_OOM_REAP, HOG_EVENT_KINDS };
const volatile enum hog_event_kind event_layout = HOG_EXEC;

#define ARGS 256
struct hog_event {
    u64 at;     /* CLOCK_MONOTONIC, ns */
    u64 key;    /* of the process; of a kill: of the victim */
    u64 other;  /* key of the parent; of a kill: of the process that asked for memory */
    u64 lived;  /* ns since its start */
    u64 ran;    /* ns on CPUs */
    u64 pages;  /* of an exit: most resident pages; of a kill: resident pages; 0: not known */
    u64 cgroup; /* id in version 2; 0: not known */
    u32 kind;   /* enum hog_event_kind */
    u32 status; /* as wait(2) gives it */
    u32 uid;
    u32 length; /* of args */
    char comm[COMM], other_comm[COMM];
};

struct hog_event_args {
    struct hog_event event;
    char args[ARGS]; /* arguments, each with its NUL */
};
struct hog_event_args *unused_event;

struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, 2097152);
} hog_ring SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
    __uint(key_size, sizeof(u32));
    __uint(value_size, sizeof(u32));
} hog_perf SEC(".maps");

/* Where there is no ring buffer, no program is interrupted by another. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct hog_event_args);
} hog_scratch SEC(".maps");

const volatile bool use_perf, want_args;
const volatile u32 most_a_second = 10000;

/* Shared with user space. */
struct hog_events_state {
    u64 second, sent;           /* of the second that began last: how many were sent */
    u64 lost[HOG_EVENT_KINDS];  /* no room, */
    u64 above[HOG_EVENT_KINDS]; /* or more than most_a_second */
} events_state;

static void *(*const bpf_ringbuf_reserve)(void *ring, u64 size, u64 flags) = (void *)BPF_FUNC_ringbuf_reserve;
static void (*const bpf_ringbuf_submit)(void *data, u64 flags) = (void *)BPF_FUNC_ringbuf_submit;
static long (*const bpf_perf_event_output)(void *ctx, void *map, u64 flags, void *data,
                                           u64 size) = (void *)BPF_FUNC_perf_event_output;

static __always_inline bool is_too_many(u32 kind, u64 now)
{
    u64 second = now >> 30;

    if (events_state.second != second) {
        events_state.second = second;
        events_state.sent = 0;
    }
    __sync_fetch_and_add(&events_state.sent, 1);
    if (events_state.sent <= most_a_second)
        return false;
    __sync_fetch_and_add(&events_state.above[kind & 3], 1);
    return true;
}

/* Room for an event; NULL: it is lost, and counted. */
static __always_inline struct hog_event_args *begin_event(u32 kind, bool args)
{
    struct hog_event_args *e;
    u64 now = bpf_ktime_get_ns();
    u32 zero = 0;

    if (is_too_many(kind, now))
        return NULL;
    if (use_perf)
        e = bpf_map_lookup_elem(&hog_scratch, &zero);
    else if (args)
        e = bpf_ringbuf_reserve(&hog_ring, sizeof(struct hog_event_args), 0);
    else
        e = bpf_ringbuf_reserve(&hog_ring, sizeof(struct hog_event), 0);
    if (!e) {
        __sync_fetch_and_add(&events_state.lost[kind & 3], 1);
        return NULL;
    }
    __builtin_memset(&e->event, 0, sizeof e->event);
    e->event.at = now;
    e->event.kind = kind;
    return e;
}

static __always_inline void end_event(void *ctx, struct hog_event_args *e, bool args)
{
    u32 kind = e->event.kind;

    if (!use_perf)
        bpf_ringbuf_submit(e, 0);
    else if (bpf_perf_event_output(ctx, &hog_perf, 0xffffffff /* BPF_F_CURRENT_CPU */, e,
                                   args ? sizeof *e : sizeof e->event))
        __sync_fetch_and_add(&events_state.lost[kind & 3], 1);
}

static __always_inline bool is_wanted(u64 key)
{
    u32 process = process_of(key);

    if (key == HOG_KEY_OUTSIDE || is_excluded())
        return false;
    return !only_tracked || bpf_map_lookup_elem(&hog_tracked, &process);
}

/* What all events say of `current`, a thread of the process. */
static __always_inline void describe(struct hog_event *e, struct task_struct *task, u64 key)
{
    struct task_struct *leader = kernel_field(false, task, group_leader);
    struct cred *cred = kernel_field(false, task, real_cred);

    e->key = key;
    e->other = parent_of(false, leader);
    e->uid = kernel_field(false, cred, euid).val;
    e->cgroup = group_of(task);
    copy_comm(false, e->comm, leader);
}

/* ---- exec ---- */

static __always_inline int on_exec(void *ctx)
{
    struct task_struct *task = (void *)bpf_get_current_task();
    u64 key = task_key(false, task, kernel_field(false, task, pid)).key;

    if (!is_wanted(key))
        return 0;
    struct hog_event_args *e = begin_event(HOG_EXEC, want_args);
    if (!e)
        return 0;
    describe(&e->event, task, key);
    if (want_args) {
        struct mm_struct *mm = kernel_field(false, task, mm);
        u64 from = kernel_field(false, mm, arg_start), all = kernel_field(false, mm, arg_end) - from;
        u32 length = all < ARGS ? all : ARGS;
        barrier_var(length);
        if (length <= ARGS && !bpf_probe_read_user(e->args, length, (void *)from))
            e->event.length = length;
    }
    end_event(ctx, e, want_args);
    return 0;
}

SEC("tp_btf/sched_process_exec")
int hog_exec_btf(void *ctx)
{
    return on_exec(ctx);
}

SEC("raw_tp/sched_process_exec")
int hog_exec_raw(void *ctx)
{
    return on_exec(ctx);
}

/* ---- exit ---- */

#define SIGNAL_GROUP_EXIT 4

/* The last thread of a process ends. If it was the process as a whole that ended, that has the status; else
 * its first thread. */
static __always_inline int on_exit(void *ctx)
{
    struct task_struct *task = (void *)bpf_get_current_task();
    struct task_struct *leader = kernel_field(false, task, group_leader);
    struct signal_struct *signal = kernel_field(false, task, signal);

    if (kernel_field(false, signal, live).counter > 0)
        return 0;
    u64 key = task_key(false, task, kernel_field(false, task, pid)).key;
    if (!is_wanted(key))
        return 0;
    struct hog_event_args *e = begin_event(HOG_EXIT, false);
    if (!e)
        return 0;
    describe(&e->event, task, key);
    e->event.lived = bpf_ktime_get_boot_ns() - kernel_field(false, leader, start_boottime);
    e->event.ran =
        kernel_field(false, task, se.sum_exec_runtime) + kernel_field(false, signal, sum_sched_runtime);
    e->event.pages = kernel_field(false, signal, maxrss);
    e->event.status = kernel_field(false, signal, flags) & SIGNAL_GROUP_EXIT
                          ? kernel_field(false, signal, group_exit_code)
                          : kernel_field(false, leader, exit_code);
    end_event(ctx, e, false);
    return 0;
}

SEC("tp_btf/sched_process_exit")
int hog_exit_btf(void *ctx)
{
    return on_exit(ctx);
}

SEC("raw_tp/sched_process_exit")
int hog_exit_raw(void *ctx)
{
    return on_exit(ctx);
}

/* ---- out of memory ---- */

static __always_inline u64 resident_pages(struct mm_struct *mm)
{
    struct mm_struct___6_1 *old = (void *)mm;

    if (!mm)
        return 0;
    if (kernel_has(mm, rss_stat[0].count))
        return kernel_field(false, mm, rss_stat[0].count) + kernel_field(false, mm, rss_stat[1].count) +
               kernel_field(false, mm, rss_stat[3].count);
    if (kernel_has(old, rss_stat.count[0].counter))
        return kernel_field(false, old, rss_stat.count[0].counter) +
               kernel_field(false, old, rss_stat.count[1].counter) +
               kernel_field(false, old, rss_stat.count[3].counter);
    return 0;
}

/* `current` asked for memory, and there was none. victim NULL: only its PID is known, in the initial
 * namespace. */
static __always_inline int on_oom(void *ctx, struct task_struct *victim, u32 pid)
{
    struct task_struct *task = (void *)bpf_get_current_task();
    struct hog_event_args *e = begin_event(HOG_OOM_KILL, false);

    if (!e)
        return 0;
    if (victim) {
        describe(&e->event, victim, task_key(false, victim, kernel_field(false, victim, pid)).key);
        e->event.pages = resident_pages(kernel_field(false, victim, mm));
        e->event.cgroup = 0;
    } else {
        e->event.key = make_key(pid, 0, 0);
    }
    e->event.other = task_key(false, task, kernel_field(false, task, pid)).key;
    copy_comm(false, e->event.other_comm, kernel_field(false, task, group_leader));
    end_event(ctx, e, false);
    return 0;
}

/* Its argument is a task from 6.9 on, 72ba14deb40a, and a PID before: there the typed load is refused. */
SEC("tp_btf/mark_victim")
int hog_oom_task(void *ctx)
{
    struct task_struct *victim = argument(ctx, 0, struct task_struct *);

    return on_oom(ctx, victim, victim->pid);
}

SEC("raw_tp/mark_victim")
int hog_oom_pid(void *ctx)
{
    return on_oom(ctx, NULL, argument(ctx, 0, u32));
}

/* The memory of a victim was taken, though it has not ended. */
SEC("raw_tp/finish_task_reaping")
int hog_oom_reap(void *ctx)
{
    struct hog_event_args *e = begin_event(HOG_OOM_REAP, false);

    if (!e)
        return 0;
    e->event.key = make_key(argument(ctx, 0, u32), 0, 0);
    end_event(ctx, e, false);
    return 0;
}
