/* SPDX-License-Identifier: GPL-2.0-only */
/* What hog changes of itself for its own work, and a command that it runs must not inherit. */
#ifndef HOG_CLI_PROCESS_LIMITS_H
#define HOG_CLI_PROCESS_LIMITS_H

#include <signal.h>

/* Ignores SIGPIPE, and raises the limit of open files: a pidfd for each process asked for. */
void process_limits_change(void);

/* In a child, before exec: as they were, and signals blocked as in `mask`. */
void process_limits_give_back(const sigset_t *mask);

#endif
