/* SPDX-License-Identifier: GPL-2.0-only */
/* Process attributes that hog changes for its own work, and that a command it runs must not inherit. */
#ifndef HOG_CLI_PROCESS_LIMITS_H
#define HOG_CLI_PROCESS_LIMITS_H

#include <signal.h>

/* Ignores SIGPIPE, and raises the limit of open files: each PID of -p needs a pidfd. */
void process_limits_change(void);

/* In a child, before exec: restores them, and sets the mask of blocked signals. */
void process_limits_restore(const sigset_t *mask);

#endif
