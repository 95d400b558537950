/* SPDX-License-Identifier: GPL-2.0-only */
/* What hog changes of itself for its own work, and a command that it runs must not inherit. */
#ifndef HOG_INHERITED_H
#define HOG_INHERITED_H

#include <signal.h>

/* Ignores SIGPIPE, and raises the limit of open files: a pidfd for each process asked for. */
void inherited_change(void);

/* In a child, before exec: as they were, and signals blocked as in `mask`. */
void inherited_give_back(const sigset_t *mask);

#endif
