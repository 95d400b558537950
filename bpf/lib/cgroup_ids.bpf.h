/* SPDX-License-Identifier: GPL-2.0-only */
/* Control groups of exiting tasks, whose /proc will be gone. */
#ifndef HOG_BPF_LIB_CGROUP_IDS_H
#define HOG_BPF_LIB_CGROUP_IDS_H

#include "kernel/cgroup.bpf.h"
#include "kernel/task.bpf.h"

/* Hierarchies of version 1, as in src/host/cgroup_v1.h: by number modulo the size, how well each one
 * identifies a process. 0: not asked for. */
#define HIERARCHIES 64
#define IN_A_GROUP  8 /* not the root group, which says nothing */
struct hog_hierarchies {
    u64 any;
    u8 worth[HIERARCHIES];
};
const volatile struct hog_hierarchies hierarchies;

#define HIERARCHY_SHIFT  48 /* the hierarchy's number above the group's id, which is unique only within it */
#define HIERARCHIES_TOLD 32 /* per task; there are a dozen controllers */
#define KERNFS_ROOT      1  /* id of the root directory */

/* The group in the hierarchy that says most, of several such the newest, which is also first in
 * /proc/PID/cgroup. 0: unknown. */
static __attribute__((noinline)) u64 group_in_v1(struct task_struct *task)
{
    struct css_set *set = kernel_field(false, task, cgroups);
    struct list_head *head = __builtin_preserve_access_index(&set->cgrp_links);
    struct list_head *at = kernel_field(false, head, next);
    u64 group = 0;
    u32 most = 1;

    for (u32 i = 0; i < HIERARCHIES_TOLD && at != head; i++) {
        struct cgrp_cset_link *none = NULL;
        struct cgrp_cset_link *link =
            (void *)at - __builtin_preserve_field_info(none->cgrp_link, 0 /* offset */);
        struct cgroup *cgroup = kernel_field(false, link, cgrp);
        struct cgroup_root *root = kernel_field(false, cgroup, root);
        struct kernfs_node *node = kernel_field(false, cgroup, kn);
        u64 hierarchy = kernel_field(false, root, hierarchy_id), id = kernel_field(false, node, id);
        u32 worth = hierarchies.worth[hierarchy % HIERARCHIES];
        if (worth && id != KERNFS_ROOT)
            worth += IN_A_GROUP;
        if (worth >= most) {
            most = worth;
            group = hierarchy << HIERARCHY_SHIFT | id;
        }
        at = kernel_field(false, at, next);
    }
    return group;
}

/* Of `current`, in version 2. 0: unknown. */
static __always_inline u64 group_of(struct task_struct *task)
{
    return kernel_has(task, cgroups) ? bpf_get_current_cgroup_id() : 0;
}

static __always_inline u64 group_of_v1(struct task_struct *task)
{
    struct kernfs_node *node = NULL;

    return hierarchies.any && kernel_has(task, cgroups) && kernel_has(node, id) ? group_in_v1(task) : 0;
}

#endif
