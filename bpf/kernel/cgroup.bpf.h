/* SPDX-License-Identifier: GPL-2.0-only */
/* Kernel structs of control groups: see task.bpf.h. */
#ifndef HOG_BPF_KERNEL_CGROUP_H
#define HOG_BPF_KERNEL_CGROUP_H

#include "kernel/helpers.bpf.h"

struct list_head {
    struct list_head *next;
} __relocated;

struct cgroup_root {
    int hierarchy_id; /* the first number of a line of /proc/PID/cgroup */
} __relocated;

struct kernfs_node {
    u64 id; /* inode number of its directory; from 5.5, 67c0496e87d1 */
} __relocated;

struct cgroup {
    struct kernfs_node *kn;
    struct cgroup_root *root;
} __relocated;

/* Links a css_set to one of its control groups. */
struct cgrp_cset_link {
    struct cgroup *cgrp;
    struct list_head cgrp_link; /* in the list of the set, in order of the age of the hierarchies */
} __relocated;

/* One control group per hierarchy. */
struct css_set {
    struct list_head cgrp_links;
} __relocated;

#endif
