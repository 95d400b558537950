/* SPDX-License-Identifier: GPL-2.0-only */
/* Which lock a lock-bound process waits for, and which of its threads has it. */
#ifndef HOG_VIEW_TOP_CULPRIT_LOCK_H
#define HOG_VIEW_TOP_CULPRIT_LOCK_H

#include "base/paragraph.h"
#include "view/top/state.h"

/* The cell `by`: "futex:4711/holder", "mmap_lock", "[futex]"; returns its length. */
size_t lock_text(const struct top *top, const struct judged_process *process, char *to, size_t size);

/* The same in sentences. */
void lock_prose(struct paragraph *p, const struct top *top, const struct judged_process *process);

#endif
