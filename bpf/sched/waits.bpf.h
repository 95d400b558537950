/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long tasks wait for a CPU, and because of which others, from the same switch that measures on-CPU
 * time.
 *
 * The scheduler itself records when a wait begins (sched_info.last_queued), and at the switch to the task
 * that value is still there: the wait is the run queue's clock minus it, which the kernel adds to run_delay
 * (the second field of /proc/PID/schedstat) a moment later. So no hook at wakeups is needed. Waits on a CPU
 * that the task was moved away from are already in run_delay: the increase since it last left a CPU, which
 * is kept in `hog_departures`.
 *
 * To attribute a wait, each CPU keeps its last timeslices. Those that a wait overlaps are walked backwards,
 * and each gets its part.
 */
#ifndef HOG_BPF_SCHED_WAITS_H
#define HOG_BPF_SCHED_WAITS_H

#include "lib/sketch.bpf.h"
#include "kernel/task.bpf.h"
#include "lib/histogram_by_key.bpf.h"
#include "sched/blocked_time.bpf.h"
#include "lib/task_key.bpf.h"

/* Keys of aggressors that are no process, in addition to HOG_KEY_OUTSIDE; followed by enum hog_sleeps_on. */
enum hog_aggressor {
    HOG_IDLE = 2, /* nothing ran: the CPU was leaving idle */
    HOG_SEVERAL, /* more timeslices than a CPU keeps (CPU + 1 in the upper bits); user space distributes it */
    HOG_THROTTLED, /* the quota of the victim's group was used up */
    HOG_MOVED,     /* on a CPU that it was moved away from: unknown what ran there */
    HOG_STEAL,     /* the hypervisor had the CPU */
    HOG_SEVERAL_CPU = 8,
};
const volatile enum hog_aggressor aggressor_layout = HOG_IDLE;

/* Waits of a victim for an aggressor: a slot of the second sketch. */
struct hog_pair {
    struct hog_slot slot; /* key: hash of what follows, except `most`; ns; timeslices */
    u64 victim, aggressor;
    u64 most; /* longest part, ns << 1 | whether the victim was preempted */
};

#define HOG_TIMESLICES 64
struct hog_timeslice {
    u64 key, end; /* the task that ran, and when it left, by the run queue's clock. It began at the end of the
                     one before */
};

/* A value of the map, per CPU: waits by victim and, if asked for, by pair, and blocked time: pairs of a task
 * and what it sleeps on (enum hog_sleeps_on). In slots of waits the upper half of `count` is the longest wait
 * in units of 2^10 ns. */
struct hog_waits {
    struct hog_pipe waits, pairs, blocked; /* what each lost; their seq is that of hog_cpu */
    u64 cur;                               /* the running task */
    u64 timeslices;                        /* number of completed ones */
    u64 padding[4];
    struct hog_timeslice ring[HOG_TIMESLICES];
    struct hog_slot slots[PIPE_SLOTS]; /* two banks, followed, */
    struct hog_pair
        pair_slots[PIPE_SLOTS]; /* at offsets given by the sizes that user space chose, by those of */
    struct hog_pair blocked_slots[PIPE_SLOTS]; /* pairs and blocked time */
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct hog_waits);
} hog_waits SEC(".maps");

/* The state of a task when it left a CPU, in the place that its number leads to: of two tasks that share a
 * place, the later is kept. For the other, waits on CPUs that it is moved away from are unknown. */
struct hog_departure {
    u64 task, run_delay, at; /* at: by the run queue's clock */
    u64 throttled;
    u32 cpu, runnable;
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1024);
    __type(key, u32);
    __type(value, struct hog_departure);
} hog_departures SEC(".maps");

const volatile bool count_pairs, count_times;
const volatile u32 departure_mask = 1023; /* places - 1 */

static __always_inline struct hog_departure *departure(bool direct, struct task_struct *task)
{
    u32 place = kernel_field(direct, task, pid) & departure_mask;

    return bpf_map_lookup_elem(&hog_departures, &place);
}

static __always_inline struct hog_waits *waits_of(u32 cpu)
{
    return bpf_map_lookup_elem(&hog_waits, &cpu);
}

#define WAIT_BANK_BYTES (other_stages * other_slots * (u32)sizeof(struct hog_slot))
#define PAIR_BANK_BYTES (other_stages * other_slots * (u32)sizeof(struct hog_pair))

/* For clock_compared of hog_cpu: far from any reading, however small. */
#define CLOCK_UNKNOWN (1ull << 63)

/* The CPU, bank and kind of a wait; not the same for all its parts. */
#define BLAME_CPU     0xffffffffull
#define BLAME_BANK    (1ull << 32)
#define BLAME_PREEMPT (1ull << 33)

static __always_inline void pair_add(struct hog_pipe *pipe, void *slots, u64 victim, u64 aggressor, u64 ns,
                                     u64 how)
{
    u64 preempt = !!(how & BLAME_PREEMPT);
    u64 key = (victim * pipe_multiplier(4)) ^ (aggressor * pipe_multiplier(5) + preempt);
    struct hog_pair *pair =
        pipe_slot_in(PIPE_OTHER, pipe, slots, !!(how & BLAME_BANK), key | 1, ns, 1, sizeof *pair);

    if (!pair)
        return;
    if (pair->slot.count == 1) {
        pair->victim = victim;
        pair->aggressor = aggressor;
        pair->most = 0;
    }
    if (pair->most >> 1 < ns)
        pair->most = ns << 1 | preempt;
}

/* Global functions: verified once rather than at each call. */
__attribute__((noinline)) int hog_pair_add(u64 victim, u64 aggressor, u64 ns, u64 how)
{
    struct hog_waits *w = waits_of(bpf_get_smp_processor_id());

    if (w && count_pairs)
        pair_add(&w->pairs, (void *)w->slots + 2 * WAIT_BANK_BYTES, victim, aggressor, ns, how);
    return 0;
}

__attribute__((noinline)) int hog_blocked_add(u64 victim, u64 on, u64 ns, u64 how)
{
    struct hog_waits *w = waits_of(bpf_get_smp_processor_id());

    if (w && count_blocked)
        pair_add(&w->blocked, (void *)w->slots + 2 * (WAIT_BANK_BYTES + PAIR_BANK_BYTES), victim, on, ns,
                 how);
    return 0;
}

/* Distributes [from, to) of a CPU's clock over the tasks that ran there. */
__attribute__((noinline)) int hog_blame(u64 victim, u64 from, u64 to, u64 how)
{
    struct hog_waits *w = waits_of(how & BLAME_CPU);

    if (!w || !count_pairs || from >= to)
        return 0;
    u64 timeslices = w->timeslices, key = w->cur, end = to, rest = to - from;
    for (u32 i = 1; i < 50; i++) {
        struct hog_timeslice *before = &w->ring[(timeslices - i) % HOG_TIMESLICES];
        u64 begin = before->end;
        if (begin <= from)
            goto rest;
        u64 part = choose(is_less(end, to), end, to) - begin;
        if (part - 1 < rest) { /* neither 0 nor negative, nor more than the rest */
            hog_pair_add(victim, key, part, how);
            rest -= part;
        }
        key = before->key;
        end = begin;
    }
    key = HOG_SEVERAL | ((how & BLAME_CPU) + 1) << HOG_SEVERAL_CPU;
rest:
    if (rest)
        hog_pair_add(victim, key, rest, how);
    return 0;
}

__attribute__((noinline)) int hog_wait_time(u64 victim, u64 ns, u64 all, u64 times)
{
    if (count_times)
        histogram_count_all(victim, ns, all, times);
    return 0;
}

static __always_inline u64 throttled_time(bool direct, struct cfs_rq *cfs_rq)
{
    if (kernel_has(cfs_rq, throttled_clock_self_time))
        return kernel_field(direct, cfs_rq, throttled_clock_self_time);
    if (kernel_has(cfs_rq, throttled_clock_pelt_time))
        return kernel_field(direct, cfs_rq, throttled_clock_pelt_time);
    if (kernel_has(cfs_rq, throttled_clock_task_time))
        return kernel_field(direct, cfs_rq, throttled_clock_task_time);
    return 0;
}

/* Whether the kernel records when waits begin, and the clock of that. */
static __always_inline bool waits_known(void)
{
    return kernel_has((struct sched_info *)NULL, last_queued) &&
           kernel_has((struct sched_entity *)NULL, cfs_rq) && kernel_has((struct cfs_rq *)NULL, rq);
}

/* A wait that ends or is in progress. */
struct wait {
    u64 here;   /* ns on the CPU where it waits now, since `from` */
    u64 from;   /* by that CPU's run queue's clock */
    u64 moved;  /* ns before that on others, */
    u64 left;   /* starting at, */
    u32 on;     /* on this CPU */
    bool known; /* the last three are known */
    bool preempt;
    u64 throttled; /* ns of `here`, the first part */
};

/* Implausible times are those of another task in the same place. */
static __always_inline bool wait_of(bool direct, struct task_struct *task, struct cfs_rq *cfs_rq, u32 cpu,
                                    u64 clock, struct wait *wait)
{
    struct hog_departure *d = departure(direct, task);
    u64 from = kernel_field(direct, task, sched_info.last_queued);

    if (!from || !d)
        return false;
    wait->from = from;
    wait->here = clock > from ? clock - from : 0;
    u64 run_delay = kernel_field(direct, task, sched_info.run_delay);
    u64 moved = run_delay - d->run_delay;
    if (d->task == (u64)task && d->at <= clock && moved <= clock - d->at) {
        wait->moved = moved;
        if (!count_pairs)
            return true;
        wait->left = d->at;
        wait->on = d->cpu;
        wait->known = true;
        wait->preempt = d->runnable;
        if (d->cpu == cpu) {
            u64 throttled = throttled_time(direct, cfs_rq) - d->throttled;
            wait->throttled = throttled < wait->here ? throttled : wait->here;
        }
    } else if (!kernel_field(direct, task, sched_info.pcount)) {
        wait->moved = run_delay; /* it never ran */
    }
    return true;
}

static __always_inline void note_departure(bool direct, struct task_struct *task, struct cfs_rq *cfs_rq,
                                           u32 cpu, u64 clock)
{
    struct hog_departure *d = departure(direct, task);

    if (!d)
        return;
    d->task = (u64)task;
    d->run_delay = kernel_field(direct, task, sched_info.run_delay);
    d->at = clock;
    if (!count_pairs)
        return;
    d->throttled = throttled_time(direct, cfs_rq);
    d->cpu = cpu;
    u32 state = state_of(direct, task);
    d->runnable = !state;
    if (count_blocked && state)
        note_sleep(direct, task, cpu, clock, sleeps_on(direct, task, state, true, clock));
}

/* The task is back, after waiting `here` for this CPU: counts its sleep unless it idled. */
static __always_inline void sleep_end(bool direct, struct task_struct *task, u64 key, u64 here, u64 clock,
                                      u64 how)
{
    struct hog_sleep *s = sleep_of(direct, task);

    if (!s || s->task != (u64)task || s->pcount != (u32)kernel_field(direct, task, sched_info.pcount))
        return;
    u64 waited = here + kernel_field(direct, task, sched_info.run_delay) - s->run_delay;
    u64 slept = clock - s->at - waited;
    u32 on = s->on;
    s->on = HOG_ON_NOTHING;
    if ((s64)slept <= 0 || on < HOG_ON_IO)
        return;
    if (on == HOG_ON_TIMED && slept >= TIMED_NS)
        return;
    if (on >= HOG_ON_LOCK_IF_SHORT) {
        if (slept >= (on == HOG_ON_LOCK_IF_SHORT ? handoff_ns : handoff_ns << 10))
            return;
        on = HOG_ON_LOCK;
    }
    hog_blocked_add(key, on | (u64)s->holder << 32, slept, how);
}

static __always_inline void blame(const struct wait *wait, u64 victim, u64 clock, u64 how)
{
    if (wait->preempt)
        how |= BLAME_PREEMPT;
    if (wait->throttled)
        hog_pair_add(victim, HOG_THROTTLED, wait->throttled, how);
    if (wait->here > wait->throttled)
        hog_blame(victim, wait->from + wait->throttled, clock, how);
    if (!wait->moved)
        return;
    /* A preempted task first waited on the CPU that it was preempted on. A task that slept is woken where it
     * ran last, unless another CPU is idle, where it need not wait; if that is the CPU where it is now, the
     * other one is unknown. */
    u64 there = (how & ~BLAME_CPU) | wait->on;
    if (wait->preempt)
        hog_blame(victim, wait->left, wait->left + wait->moved, there);
    else if (wait->known && wait->on != (u32)how)
        hog_blame(victim, wait->from - wait->moved, wait->from, there);
    else
        hog_pair_add(victim, HOG_MOVED, wait->moved, how);
}

/* The distribution of wait times. For a victim that has waited often in this window, one wait in eight,
 * chosen at random, counts for all: finding its histogram costs more than everything else. */
#define WAITS_ALL  256
#define WAITS_LOTS 8
static __always_inline void count_time(u64 victim, u64 ns, u64 all, u32 count, u64 clock)
{
    if (count < WAITS_ALL)
        hog_wait_time(victim, ns, all, 1);
    else if ((clock * pipe_multiplier(3)) >> 32 & (WAITS_LOTS - 1))
        return;
    else
        hog_wait_time(victim, ns, all, WAITS_LOTS);
}

static __always_inline void count_wait(struct hog_waits *w, u32 flip, u64 victim, u64 ns, u64 clock)
{
    struct hog_slot *slot = pipe_slot_in(PIPE_OTHER, &w->waits, w->slots, flip, victim, ns, 1, sizeof *slot);
    u64 most = ns >> 10;

    if (!slot)
        return;
    if (most > ~0u)
        most = ~0u;
    if (slot->count >> 32 < most)
        slot->count = most << 32 | (u32)slot->count;
    if (count_times)
        count_time(victim, ns, slot->weight, slot->count, clock);
}

/* A task at a switch: its key (0: idle), and the queue of its group. */
struct switched {
    struct task_struct *task;
    struct cfs_rq *cfs_rq;
    u64 key;
};

/* At a switch at `clock` of this CPU's run queue from `prev` to `next`. */
static __always_inline void waits_switch(bool direct, u32 cpu, u32 flip, struct switched prev,
                                         struct switched next, u64 clock)
{
    struct hog_waits *w = waits_of(cpu);
    struct wait wait = {};

    if (!w)
        return;
    w->waits.flip = flip;
    if (count_blocked)
        w->blocked.flip = flip;
    if (count_pairs) {
        w->pairs.flip = flip;
        w->cur = next.key ? next.key : HOG_IDLE;
        struct hog_timeslice *timeslice = &w->ring[w->timeslices % HOG_TIMESLICES];
        timeslice->key = prev.key ? prev.key : HOG_IDLE;
        timeslice->end = clock;
        w->timeslices++;
    }
    if (prev.key)
        note_departure(direct, prev.task, prev.cfs_rq, cpu, clock);
    if (!next.key)
        return;
    u64 how = cpu | (pipe_bank(flip) ? BLAME_BANK : 0);
    if (wait_of(direct, next.task, next.cfs_rq, cpu, clock, &wait)) {
        count_wait(w, flip, next.key, wait.here + wait.moved, clock);
        if (count_pairs)
            blame(&wait, next.key, clock, how);
    }
    if (count_blocked)
        sleep_end(direct, next.task, next.key, wait.here, clock, how);
}

#endif
