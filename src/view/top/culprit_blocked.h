/* SPDX-License-Identifier: GPL-2.0-only */
/* What a blocked process waits for. */
#ifndef HOG_VIEW_TOP_CULPRIT_BLOCKED_H
#define HOG_VIEW_TOP_CULPRIT_BLOCKED_H

#include "source/tasks/stuck.h"
#include "view/top/state.h"

/* The longest sleep of the process and what is responsible; false: none is known. */
bool blocked_cause(const struct top *top, uint64_t key, const struct stuck **stuck,
                   struct stuck_cause *cause);

/* "4711/bindfs", escaped. */
void blocked_process(const struct top *top, uint32_t process, char *to, size_t size);

/* The cell `by`; returns its length. */
size_t blocked_text(const struct top *top, const struct judged_process *process, char *to, size_t size);

#endif
