/* SPDX-License-Identifier: GPL-2.0-only */
/* Closing what is in the kernel. The kernel takes a uprobe or kprobe away in tens of milliseconds, and one
 * after the other when a process ends. */
#ifndef HOG_CLI_LEAVE_H
#define HOG_CLI_LEAVE_H

/* Closes all descriptors but stdin, stdout and stderr, many at a time. Safe in a signal handler. */
void leave_kernel(void);

#endif
