/* SPDX-License-Identifier: GPL-2.0-only */
/* A call that wants memory from a kernel that counts it as locked (loader/locked.h). */
#ifndef HOG_LOADER_KERNEL_RLIMIT_H
#define HOG_LOADER_KERNEL_RLIMIT_H

#include <stdbool.h>

/* Raises the limit as far as it goes, once a process. True if that was further than before. */
bool rlimit_raise(void);

/* For a call that the kernel refused with `err`: raises the limit as far as it goes, once a process; after
 * that, waits a little for what was closed before and is still counted, as often as a fifth of a second
 * allows for each time that something was closed. True if the call is worth repeating. */
bool rlimit_raise_after(int err);

/* Something was closed that may have been counted. */
void rlimit_freed(void);

#endif
