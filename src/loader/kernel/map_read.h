/* SPDX-License-Identifier: GPL-2.0-only */
/* Reading whole hash maps, of any kind, by batches (5.6, commit 057996380a42). */
#ifndef HOG_LOADER_KERNEL_MAP_READ_H
#define HOG_LOADER_KERNEL_MAP_READ_H

#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

/* Called for each entry; a non-zero return ends the reading and is returned by it. */
typedef int (*entry_fn)(void *context, const void *key, const void *value);

/*
 * Reads a map and leaves it as it is; fn may delete. Entries written meanwhile may be missed. value_size is
 * that of the buffer for one value: for a per-CPU map round_up(value, 8) * cpus_possible(). Returns the
 * number of entries, fn's result, or -errno.
 */
int map_walk(int fd, size_t key_size, size_t value_size, entry_fn fn, void *context, struct error *why);

/* The same, and empties it. An entry that has been handed to fn is no longer in the map; when fn ends the
 * drain, the rest of its batch is lost. */
int map_drain(int fd, size_t key_size, size_t value_size, entry_fn fn, void *context, struct error *why);

#endif
