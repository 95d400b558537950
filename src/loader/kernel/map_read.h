/* SPDX-License-Identifier: GPL-2.0-only */
/* Reading whole maps. */
#ifndef HOG_LOADER_KERNEL_MAP_READ_H
#define HOG_LOADER_KERNEL_MAP_READ_H

#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

/* Called for each entry; a non-zero return ends the drain and is returned by it. */
typedef int (*entry_fn)(void *context, const void *key, const void *value);

/*
 * Reads and empties a hash map, by batches where the kernel has them (5.6), else key by key. Entries written
 * meanwhile may be seen or stay. value_size is that of the buffer for one value: for a per-CPU map
 * round_up(value, 8) * cpus_possible(). Returns the number of entries, fn's result, or -errno.
 *
 * An entry that has been handed to fn is no longer in the map; when fn ends the drain, the rest of its batch
 * is lost.
 */
int map_drain(int fd, size_t key_size, size_t value_size, entry_fn fn, void *context, struct error *why);

/* The same, key by key always: what kernels before 5.6 do. */
int map_drain_single(int fd, size_t key_size, size_t value_size, entry_fn fn, void *context,
                     struct error *why);

/* Reads a hash map by batches and leaves it as it is; fn may delete. -EOPNOTSUPP: before 5.6. */
int map_walk(int fd, size_t key_size, size_t value_size, entry_fn fn, void *context, struct error *why);

#endif
