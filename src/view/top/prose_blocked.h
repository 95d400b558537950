/* SPDX-License-Identifier: GPL-2.0-only */
/* What blocked threads wait for, in words. */
#ifndef HOG_VIEW_TOP_PROSE_BLOCKED_H
#define HOG_VIEW_TOP_PROSE_BLOCKED_H

#include "base/paragraph.h"
#include "view/top/culprit_blocked.h"

/* The threads that wait for the same thing, of those that wait for the most. */
struct blocked_story {
    const struct stuck *oldest; /* NULL: no thread is blocked */
    size_t threads, all;        /* of this story; of all */
    uint64_t longest;           /* ns */
    bool fault; /* not just a user's lock or a peer: a file system or the kernel does not answer */
};
void blocked_story(const struct top *top, struct blocked_story *story);

/* "the fuse file system /mnt/x", "a write to the frozen file system /mnt" */
void blocked_words(struct paragraph *p, const struct stuck *stuck, const struct stuck_cause *cause);

/* "its server", "the holder": what the process of a cause is. */
const char *blocked_role(const struct stuck *stuck);

/* "bindfs (4711)" */
void blocked_name(struct paragraph *p, const struct top *top, uint32_t process);

/* The paragraph of `hog why`: what it waits for, since when, and what to do. */
void blocked_prose(struct paragraph *p, const struct top *top, const struct judged_process *process);
void blocked_next(struct paragraph *p, const struct top *top, const struct judged_process *process);

#endif
