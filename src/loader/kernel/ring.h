/* SPDX-License-Identifier: GPL-2.0-only */
/* Readers of the two kinds of event streams: BPF ring buffer (5.8) and perf buffer (any). */
#ifndef HOG_LOADER_KERNEL_RING_H
#define HOG_LOADER_KERNEL_RING_H

#include <stddef.h>
#include <stdint.h>
#include "loader/kernel/object.h"

/* Called for each record; a non-zero return stops the drain and is returned by it. The data is valid during
 * the call only. */
typedef int (*record_fn)(void *context, const void *data, size_t size);

struct ring_buffer; /* of a BPF_MAP_TYPE_RINGBUF */
int ring_buffer_open(struct ring_buffer **out, const struct object_map *map, struct error *why);
int ring_buffer_fd(const struct ring_buffer *ring);                           /* pollable */
int ring_buffer_drain(struct ring_buffer *ring, record_fn fn, void *context); /* records read, or < 0 */
void ring_buffer_close(struct ring_buffer *ring);

/* Of a BPF_MAP_TYPE_PERF_EVENT_ARRAY: one ring for each CPU that is online when it is opened. On one that
 * comes later bpf_perf_event_output() returns -ENOENT, on one that comes back -EOPNOTSUPP: the program must
 * count what it could not send. */
struct perf_buffer;
int perf_buffer_open(struct perf_buffer **out, const struct object_map *map, size_t pages_per_cpu,
                     struct error *why);
int perf_buffer_fd(const struct perf_buffer *buffer); /* an epoll fd over all rings */
/* *lost grows by the events that the kernel reports as dropped. */
int perf_buffer_drain(struct perf_buffer *buffer, record_fn fn, void *context, uint64_t *lost);
void perf_buffer_close(struct perf_buffer *buffer); /* before the map */

#endif
