/* SPDX-License-Identifier: GPL-2.0-only */
/* Reader of a perf buffer, for hosts without ring buffers. */
#ifndef HOG_LOADER_KERNEL_PERF_BUFFER_H
#define HOG_LOADER_KERNEL_PERF_BUFFER_H

#include "loader/kernel/ring.h"

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
