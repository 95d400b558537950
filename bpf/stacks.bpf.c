// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where tasks spend their time, by call stack: on CPUs by samples, asleep by the switches.
 *
 * A sample is taken on each CPU at a fixed rate: the stacks of kernel and user. A sleep is measured from the
 * switch away to when the task became runnable again, and has the kernel stack in which it slept.
 *
 * Sums are kept in two banks by turns; a sleep that spans a flip is divided. What still sleeps at the flip is
 * read by an iterator; tasks that wake until that is done are noted apart (hog_late), so that no part of a
 * sleep counts twice or not at all.
 */
#include "kernel/task.bpf.h"
#include "lib/exact_maps.bpf.h"
#include "lib/frames.bpf.h"
#include "lib/prefilter.bpf.h"
#include "lib/sketch.bpf.h"
#include "lib/task_key.bpf.h"
#include "sched/run_queue.bpf.h"
#include "sched/blocked_time.bpf.h"
#include "stacks/paths.bpf.h"
#include "stacks/sums.bpf.h"

char gpl[] SEC("license") = "GPL";

TRACKED_MAP;
const volatile bool only_tracked;
const volatile u64 sample_ns = 10101010; /* time between two samples of a CPU */

static __always_inline bool is_chosen(u64 key)
{
    u32 process = process_of(key);

    return !only_tracked || bpf_map_lookup_elem(&hog_tracked, &process);
}

/* ---- on a CPU ---- */

/* A global function: verified once. */
__attribute__((noinline)) u64 hog_keep_scratch(u32 which)
{
    struct hog_frames *frames = scratch(which);

    return frames ? frames_keep(frames) : HOG_FRAMES_LOST;
}

static __always_inline u64 take_stack(void *ctx, u32 which, u64 flags)
{
    struct hog_frames *frames = scratch(which);

    if (!frames)
        return HOG_FRAMES_LOST;
    long bytes = bpf_get_stack(ctx, frames->at, sizeof frames->at, flags);
    if (bytes < (long)sizeof(u64))
        return HOG_FRAMES_NONE;
    frames->n = bytes / sizeof(u64);
    return hog_keep_scratch(which);
}

/* User space reads what the process has mapped while it lives. */
static __always_inline void announce(u64 image, u64 key, struct task_struct *task)
{
    struct mm_struct *mm = kernel_field(false, task, mm);
    struct hog_announced now = {kernel_field(false, mm, exec_vm)};
    struct hog_announced *before = bpf_map_lookup_elem(&hog_images, &image);

    if (before && before->pages == now.pages)
        return;
    struct hog_image new = {.image = image, .key = key, .uid = bpf_get_current_uid_gid()};
    bpf_get_current_comm(new.comm, sizeof new.comm);
    if (!bpf_ringbuf_output(&hog_news, &new, sizeof new, 0))
        bpf_map_update_elem(&hog_images, &image, &now, BPF_ANY);
}

static __always_inline void on_sample(bool direct, struct task_struct *task, void *ctx)
{
    u32 thread = kernel_field(direct, task, pid);

    if (!thread || is_excluded())
        return;
    struct hog_stack_key *key = key_scratch(SCRATCH_KERNEL);
    if (!key)
        return;
    __builtin_memset(key, 0, sizeof *key);
    key->task = task_key(direct, task, thread).key;
    if (!is_chosen(key->task))
        return;
    key->kernel = take_stack(ctx, SCRATCH_KERNEL, 0);
    key->image = image_of(task);
    if (key->image) {
        key->user = take_stack(ctx, SCRATCH_USER, USER_STACK);
        announce(key->image, key->task, task);
    }
    key->call = HOG_STACK_ON_CPU;
    sum_add(stacks_flip & 1, key, sample_ns);
}

SEC("perf_event")
int hog_sample(void *ctx)
{
    for_current(on_sample, ctx);
    return 0;
}

/* ---- asleep ---- */

static __always_inline struct hog_asleep *asleep(struct task_struct *task)
{
    u32 place = task->pid & (ASLEEP - 1);

    return bpf_map_lookup_elem(&hog_asleep, &place);
}

/* `prev` is `current`, and goes to sleep. */
static __always_inline void fall_asleep(void *ctx, struct task_struct *prev, u32 state, u64 now)
{
    struct hog_asleep *s = asleep(prev);

    if (!s)
        return;
    s->task = (u64)prev;
    s->at = now;
    s->on = sleeps_on(true, prev, state, true, now).on;
    s->user = HOG_FRAMES_NONE;
    if (!only_tracked)
        return;
    u64 key = task_key(true, prev, prev->pid).key;
    u64 image = image_of(prev);
    if (!image || !is_chosen(key))
        return;
    s->user = take_stack(ctx, SCRATCH_SWITCH, USER_STACK);
    announce(image, key, prev);
}

/* When it left its CPU, by the clock of that CPU's run queue. For how long it ran before is known of the fair
 * class. */
static __always_inline u64 left_at(struct task_struct *task)
{
    u64 ran = task->se.sum_exec_runtime - task->se.prev_sum_exec_runtime;

    return task->sched_info.last_arrival + (task->prio < 100 ? 0 : ran);
}

/* Some locks are known by the time that they take: see enum hog_sleeps_on. */
static __always_inline u32 settle(u32 on, u64 slept)
{
    if (on == HOG_ON_TIMED)
        return slept < TIMED_NS ? HOG_ON_LOCK : HOG_ON_NOTHING;
    if (on == HOG_ON_LOCK_IF_SHORT)
        return slept < handoff_ns ? HOG_ON_LOCK : HOG_ON_NOTHING;
    if (on == HOG_ON_LOCK_OR_SIGNAL)
        return slept < handoff_ns << 10 ? HOG_ON_LOCK : HOG_ON_NOTHING;
    return on;
}

/* What its sleep until then counts for; false: for nothing. */
static __always_inline bool describe_sleep(struct task_struct *task, const struct hog_asleep *s, u64 end,
                                           struct hog_stack_key *key, u32 which)
{
    __builtin_memset(key, 0, sizeof *key);
    key->task = task_key(true, task, task->pid).key;
    if (!is_chosen(key->task))
        return false;
    key->on = settle(s->on, end - s->at);
    key->user = s->user;
    if (s->user)
        key->image = image_of(task);
    key->call = HOG_STACK_FAULT;
    if (entry_known()) {
        struct entry entry = entry_of(bpf_task_pt_regs(task));
        key->call = entry.call == ~0ull ? HOG_STACK_FAULT : entry.call & 0xffff;
    }
    key->kernel = path_of(task, key->call, which);
    return true;
}

/*
 * How far CLOCK_MONOTONIC is ahead of the clock of this CPU's run queue, which says when a task became
 * runnable. The scheduler reads that clock at a wakeup, and may not do so again at the switch that follows:
 * then they seem further apart. So the smallest distance counts, and grows as fast as NTP may slew (1/2048).
 */
struct hog_clock {
    u64 offset, compared;
};

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct hog_clock);
} hog_clocks SEC(".maps");

static __always_inline u64 clock_offset(struct task_struct *next, u64 now)
{
    u32 zero = 0;
    struct hog_clock *c = bpf_map_lookup_elem(&hog_clocks, &zero);
    u64 apart = now - next->se.cfs_rq->rq->clock;

    if (!c)
        return apart;
    u64 most = c->offset + ((now - c->compared) >> 11);
    if (c->compared && (s64)(apart - most) > 0)
        apart = most;
    c->offset = apart;
    c->compared = now;
    return apart;
}

/* A sleep whose beginning was not seen, and that is not just an error of the clocks. */
#define UNSEEN_NS 100000000

static __always_inline void wake_up(struct task_struct *next, u64 now)
{
    struct hog_asleep *s = asleep(next), unseen = {};
    u64 queued = next->sched_info.last_queued, end = queued ? queued + clock_offset(next, now) : now;

    if (!s)
        return;
    if (end > now)
        end = now;
    if (s->task != (u64)next) {
        u64 slept = queued - left_at(next);
        if (!queued || !next->sched_info.pcount || (s64)slept < UNSEEN_NS || slept > end)
            return;
        unseen.at = end - slept;
        s = &unseen;
    } else {
        s->task = 0;
    }
    struct hog_stack_key *key = key_scratch(SCRATCH_SWITCH);
    if (end <= s->at || !key || !describe_sleep(next, s, end, key, SCRATCH_SWITCH))
        return;
    u32 flip = stacks_flip;
    const struct hog_stack_times *times = &stacks_times[flip & 1];
    u64 at = s->at;
    if (at < times->begin) {
        u64 from = at > times->before ? at : times->before;
        u64 until = end < times->begin ? end : times->begin;
        if (until > from && stacks_settled != flip)
            note_late(next, key, until - from);
        at = times->begin;
    }
    if (end > at)
        sum_add(flip & 1, key, end - at);
}

SEC("tp_btf/sched_switch")
int hog_switch(void *ctx)
{
    struct task_struct *prev = argument(ctx, 1, struct task_struct *);
    struct task_struct *next = argument(ctx, 2, struct task_struct *);
    u64 now = bpf_ktime_get_ns();

    if (!(argument(ctx, 0, u64) & 1) && !(prev->flags & PF_KTHREAD)) {
        u32 state = state_of(true, prev);
        if (state & (INTERRUPTIBLE | UNINTERRUPTIBLE))
            fall_asleep(ctx, prev, state, now);
    }
    if (!(next->flags & PF_KTHREAD))
        wake_up(next, now);
    return 0;
}

/* A task that woke, but has not run since, slept until it was queued. */
SEC("iter/task")
int hog_sleepers(struct bpf_iter__task *ctx)
{
    struct task_struct *task = ctx->task;
    struct hog_stack_key *key = key_scratch(SCRATCH_ITERATOR);
    struct hog_sleeper sleeper = {};

    if (!task || !key || task->flags & PF_KTHREAD)
        return 0;
    struct hog_asleep *s = asleep(task), unseen = {};
    u32 zero = 0, state = state_of(true, task);
    struct hog_clock *clock = bpf_map_lookup_elem(&hog_clocks, &zero);
    bool sleeps = state & (INTERRUPTIBLE | UNINTERRUPTIBLE), seen = s && s->task == (u64)task;
    if (!s || !clock || (!seen && !sleeps))
        return 0;
    sleeper.until = !sleeps ? task->sched_info.last_queued + clock->offset : bpf_ktime_get_ns();
    if (!seen) {
        unseen.at = left_at(task) + clock->offset;
        unseen.on = sleeps_on(true, task, state, false, 0).on;
        s = &unseen;
    }
    if (s->at >= sleeper.until || !describe_sleep(task, s, sleeper.until, key, SCRATCH_ITERATOR))
        return 0;
    sleeper.key = *key;
    sleeper.task = (u64)task;
    sleeper.at = s->at;
    bpf_seq_write(ctx->meta->seq, &sleeper, sizeof sleeper);
    return 0;
}
