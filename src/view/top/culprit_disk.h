/* SPDX-License-Identifier: GPL-2.0-only */
/* Which disk an io-bound process waits for, and which process loads it most. */
#ifndef HOG_VIEW_TOP_CULPRIT_DISK_H
#define HOG_VIEW_TOP_CULPRIT_DISK_H

#include "base/paragraph.h"
#include "view/top/state.h"

/* Whether a key (context: struct top) can be the hog of a disk: kernel threads work for others. */
bool disk_counts(const void *context, uint64_t key);

/* The cell `by`: "vda:4711/dd" if another process moves most of its bytes, "vda:fsync" if the process waits
 * in fsync(2) and the like, else "vda", or "[disk]". Returns its length. */
size_t disk_text(const struct top *top, const struct judged_process *process, char *to, size_t size);

/* The same in sentences. */
void disk_prose(struct paragraph *p, const struct top *top, const struct judged_process *process);
void disk_next(struct paragraph *p, const struct top *top, const struct judged_process *process);

#endif
