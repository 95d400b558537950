/* SPDX-License-Identifier: GPL-2.0-only */
/* The time at a switch, from the scheduler's clock. */
#ifndef HOG_BPF_SCHED_SWITCH_CLOCK_H
#define HOG_BPF_SCHED_SWITCH_CLOCK_H

#include "sched/cpu.bpf.h"
#include "sched/run_queue.bpf.h"
#include "sched/waits.bpf.h"

/*
 * CLOCK_MONOTONIC in ns at a switch. Reading that clock is most of the cost of a switch (47 of 60 ns in a
 * virtual machine), and the scheduler has just read its own: take that, plus the offset between the two.
 * They are compared at the first event of each flip, so that timeslices which span flips are purely by
 * CLOCK_MONOTONIC, and every quarter of a second, in which they drift apart by some ten microseconds.
 *
 * The scheduler's reading can be old: it serves a wakeup and the switch that follows, and a virtual CPU can
 * stand still in between for milliseconds. The offset then seems larger than it is, and later events would
 * be dated into the future. So it grows no faster than NTP slews (1/2048), unless all comparisons within a
 * second agree. The initial offset is the smallest one within a quarter of a second, because the scheduler's
 * clock of a CPU that has just come online stands still until the first ticks.
 */
#define COMPARE_NS  (1ull << 28)
#define DOUBT_NS    (1ull << 30)
#define DRIFT_SHIFT 11
static __always_inline u64 switch_time(bool direct, bool waits, struct hog_cpu *c, bool first, u64 clock)
{
    if (!direct || !run_queue_known()) {
        u64 now = bpf_ktime_get_ns();
        if (waits && waits_known())
            c->clock_offset = now - clock;
        return now;
    }
    u64 passed = clock - c->clock_compared;
    if (unlikely(first || passed > COMPARE_NS)) {
        u64 now = bpf_ktime_get_ns(), apart = now - clock, most = c->clock_offset + (passed >> DRIFT_SHIFT);
        bool in_doubt = now - c->clock_doubted < DOUBT_NS;
        if (c->clock_compared == CLOCK_UNKNOWN) {
            if ((s64)apart < (s64)c->clock_offset)
                c->clock_offset = apart;
            if (now - c->clock_doubted < COMPARE_NS)
                return now;
            apart = c->clock_offset;
            c->clock_doubted = 0;
        } else if (c->clock_compared && (s64)(apart - most) > 0 && (in_doubt || !c->clock_doubted)) {
            if (!c->clock_doubted)
                c->clock_doubted = now;
            apart = most;
        } else {
            c->clock_doubted = 0;
        }
        c->clock_offset = apart;
        c->clock_compared = clock;
        return now;
    }
    return clock + c->clock_offset;
}

#endif
