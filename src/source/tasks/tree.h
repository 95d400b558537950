/* SPDX-License-Identifier: GPL-2.0-only */
/* The processes that hog itself begins from now on, and all that descend from them: bpf/tree.bpf.c. */
#ifndef HOG_SOURCE_TASKS_TREE_H
#define HOG_SOURCE_TASKS_TREE_H

#include "source/shared/collector.h"

struct tree {
    struct collector collector;
    const struct object_map *living, *gone;
};

/* After sched_open(), whose keys it has. -ENOTSUP where these do not carry births that the kernel tells, or
 * hog does not know its own number. */
int tree_open(struct tree *tree, const struct source_context *context, struct hook_report hooks[MAX_HOOKS],
              struct error *why);
bool tree_has(const struct tree *tree, uint64_t key); /* dead or alive; the dead for 16384 ends */
uint64_t tree_lost(const struct tree *tree);          /* processes that it had no room for */
void tree_close(struct tree *tree);

#endif
