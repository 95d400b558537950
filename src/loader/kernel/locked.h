/* SPDX-License-Identifier: GPL-2.0-only */
/* RLIMIT_MEMLOCK, which bounds BPF memory before 5.11 (commit 80ee81e0403c, "bpf: Eliminate rlimit-based
 * memory accounting infra for bpf maps"). */
#ifndef HOG_LOADER_KERNEL_LOCKED_H
#define HOG_LOADER_KERNEL_LOCKED_H

#include <stdbool.h>
#include <stdint.h>
#include "loader/kernel/object.h"

/* Does the limit bound what we load: it is finite, this kernel counts, and nothing else refuses us? */
bool locked_memory_bounds(void);

/* RLIMIT_MEMLOCK, bytes. */
uint64_t locked_memory_limit(void);

/* Appends to the reason of a refused map or program that the limit is the cause, how much is wanted and how
 * to raise it; where it is not, what explain_permission() does. Returns err. */
int explain_locked_memory(const struct object *obj, int err, struct error *why);

/* For a call that the kernel refused with `err`: raises the limit as far as it goes, once a process; after
 * that, waits a little for what was closed before and is still counted, as often as a fifth of a second
 * allows for each time that something was closed. True if the call is worth repeating. */
bool rlimit_raise_after(int err);

/* Maps or programs were closed, which may have been counted. */
void rlimit_freed(void);

#endif
