/* SPDX-License-Identifier: GPL-2.0-only */
/* Reader of a BPF ring buffer. */
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

#endif
