/* SPDX-License-Identifier: GPL-2.0-only */
/* Events with numbers, so that a reader can tell which are missing. A test run writes `burst` of them. */
#include "kernel/helpers.bpf.h"

static void *(*const bpf_ringbuf_reserve)(void *ring, u64 size, u64 flags) = (void *)BPF_FUNC_ringbuf_reserve;
static void (*const bpf_ringbuf_submit)(void *data, u64 flags) = (void *)BPF_FUNC_ringbuf_submit;
static void (*const bpf_ringbuf_discard)(void *data, u64 flags) = (void *)BPF_FUNC_ringbuf_discard;
static long (*const bpf_perf_event_output)(void *ctx, void *map, u64 flags, void *data,
                                           u64 size) = (void *)BPF_FUNC_perf_event_output;

/* Short, because older verifiers walk through every iteration. */
#define MOST 50

struct event {
    u64 number;
    u32 cpu, size;
    u64 filling[5];
};

struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, 5000); /* becomes 8192 */
} ring SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
    __uint(key_size, 4);
    __uint(value_size, 4);
} perf SEC(".maps");

u32 burst;
u64 next, ring_failed, discarded, perf_failed;

SEC("raw_tp/sys_enter") int write_ring(void *ctx)
{
    for (u32 i = 0; i < MOST && i < burst; i++) {
        struct event *e = bpf_ringbuf_reserve(&ring, sizeof *e, 0);
        if (!e) {
            next++;
            ring_failed++;
            continue;
        }
        e->number = next++;
        e->cpu = bpf_get_smp_processor_id();
        e->size = sizeof *e;
        for (u32 k = 0; k < 5; k++)
            e->filling[k] = e->number * (k + 3);
        if (e->number % 10 == 9) {
            discarded++;
            bpf_ringbuf_discard(e, 0);
        } else {
            bpf_ringbuf_submit(e, 0);
        }
    }
    return 0;
}

SEC("raw_tp/sys_exit") int write_perf(void *ctx)
{
    for (u32 i = 0; i < MOST && i < burst; i++) {
        struct event e = {.number = next++, .cpu = bpf_get_smp_processor_id(), .size = sizeof e};
        for (u32 k = 0; k < 5; k++)
            e.filling[k] = e.number * (k + 3);
        if (bpf_perf_event_output(ctx, &perf, BPF_F_CURRENT_CPU, &e, sizeof e))
            perf_failed++;
    }
    return 0;
}

char LICENSE[] SEC("license") = "GPL";
