/* SPDX-License-Identifier: GPL-2.0-only */
/* Closing many descriptors side by side. The kernel takes a uprobe away in tens of milliseconds, and one
 * after the other when one process closes them or ends. */
#ifndef HOG_BASE_CLOSE_MANY_H
#define HOG_BASE_CLOSE_MANY_H

#include <stddef.h>

#define CLOSE_WORKERS 64

/* Closes n descriptors in up to `workers` processes at once (at most CLOSE_WORKERS), and waits for them. Safe
 * in a signal handler. */
void close_many(const int *fds, size_t n, size_t workers);

#endif
