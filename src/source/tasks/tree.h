/* SPDX-License-Identifier: GPL-2.0-only */
/* The processes that hog itself starts from now on, and all their descendants: bpf/tree.bpf.c. */
#ifndef HOG_SOURCE_TASKS_TREE_H
#define HOG_SOURCE_TASKS_TREE_H

#include "source/shared/source.h"

struct tree;

/* It uses the keys of sched, which must be open. open: -ENOTSUP if their start times do not come from the
 * kernel, or hog does not know its own PID. */
extern const struct source tree_source;
struct tree *tree_of(const struct source_context *context);

bool tree_has(const struct tree *tree, uint64_t key); /* also exited ones, for the next 16384 exits */
uint64_t tree_lost(const struct tree *tree);          /* processes dropped for lack of room */

#endif
