/* SPDX-License-Identifier: GPL-2.0-only */
/* What a CPU knows about the task that runs on it, and its part of the sketch. */
#ifndef HOG_BPF_SCHED_CPU_H
#define HOG_BPF_SCHED_CPU_H

#include "lib/exit_names.bpf.h"
#include "lib/sketch.bpf.h"

/* Slots where cycles are counted. */
struct hog_cycles_slot {
    struct hog_slot slot;
    u64 cycles;
};

struct hog_cpu {
    struct hog_pipe pipe;
    u32 cur_thread; /* thread on the CPU, (u32)-1: unknown yet */
    u32 stops;      /* if cur_thread is unknown: offline. Else, from classic tracepoints: the stop task */
    u64 cur;        /* its key; 0: idle. Classic tracepoints have no process id: only the thread id << 20 */
    u64 since;      /* ns, CLOCK_MONOTONIC */
    u64 cur_task;   /* its task_struct; from classic tracepoints its thread id */
    u64 flip_cur, flip_since;         /* cur and since at the first event after a flip, */
    u64 flip_stolen;                  /* and what was stolen from that timeslice */
    u64 idle[2], other[2], missed[2]; /* ns, per bank */
    u64 events;
    u64 clock_offset, clock_compared, clock_doubted; /* see switch_time() */
    u64 offline[2], stolen[2];                       /* ns, per bank */
    u64 taken, taken_now; /* until the last switch, 0: unknown, and when user space asked. See stolen.bpf.h */
    u64 cycles;           /* at the last switch. This and all that follows: if cycles are counted */
    u64 flip_cycles, flip_cycles_end; /* of the timeslice in flip_cur: at its begin and end */
    struct hog_exit_name exit_names[HOG_EXIT_NAMES];
    struct hog_slot slots[PIPE_SLOTS];            /* two banks of pipe_stages * slots per stage */
    struct hog_cycles_slot wider[PIPE_SLOTS / 4]; /* the additional space that slots with cycles take */
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct hog_cpu);
} hog_sketch SEC(".maps");

static __always_inline struct hog_cpu *cpu_of(u32 cpu)
{
    return bpf_map_lookup_elem(&hog_sketch, &cpu);
}

static __always_inline struct hog_cpu *this_cpu(void)
{
    return cpu_of(bpf_get_smp_processor_id());
}

/* From now on `task` is on the CPU. */
static __always_inline void note_next(struct hog_cpu *c, u64 task, u32 thread, u64 key, u64 now)
{
    c->cur_task = task;
    c->cur_thread = thread;
    c->cur = key;
    c->since = now;
    c->events++;
}

#endif
