/* SPDX-License-Identifier: GPL-2.0-only */
/* The processes that hog itself begins from now on, and all that descend from them: bpf/tree.bpf.c. */
#ifndef HOG_SOURCE_TASKS_TREE_H
#define HOG_SOURCE_TASKS_TREE_H

#include "source/shared/source.h"

struct tree;

/* After sched, whose keys it has. open: -ENOTSUP where these do not carry births that the kernel tells, or
 * hog does not know its own number. */
extern const struct source tree_source;
struct tree *tree_of(const struct source_context *context);

bool tree_has(const struct tree *tree, uint64_t key); /* dead or alive; the dead for 16384 ends */
uint64_t tree_lost(const struct tree *tree);          /* processes that it had no room for */

#endif
