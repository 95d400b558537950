/* SPDX-License-Identifier: GPL-2.0-only */
/* Which process takes the memory that others lose. */
#ifndef HOG_VIEW_TOP_CULPRIT_MEMORY_H
#define HOG_VIEW_TOP_CULPRIT_MEMORY_H

#include "view/top/state.h"

/* Whether a cgroup is that one or below it; an empty path is the host. */
bool is_in_group(const struct cgroup_name *path, const struct cgroup_name *above);

/* The process that grows most in a cgroup and below it; of an empty path: on the host. NULL: none grows
 * noticeably. */
const struct judged_process *memory_grower(const struct top *top, const struct cgroup_name *path);

#endif
