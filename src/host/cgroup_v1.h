/* SPDX-License-Identifier: GPL-2.0-only */
/* Hierarchies of control groups, and how well each identifies a process. */
#ifndef HOG_HOST_CGROUP_V1_H
#define HOG_HOST_CGROUP_V1_H

#include <stdbool.h>
#include <stddef.h>
#include "host/cgroup_place.h"

/* By the list of a line of /proc/PID/cgroup: the best kind, and before that any group but a root. */
enum cgroup_kind { CGROUP_OTHER = 1, CGROUP_CPU, CGROUP_MEMORY, CGROUP_SYSTEMD, CGROUP_UNIFIED };
enum cgroup_kind cgroup_kind(const char *list, size_t length);

#define CGROUP_V1_MOST 32
struct cgroup_v1 {
    unsigned number; /* as /proc/PID/cgroup and the kernel have it; 1.. */
    enum cgroup_kind kind;
    struct cgroup_mount mount;
};

/* Those that are mounted here; how many. root: in front of /proc and of the mounts. */
size_t cgroup_v1_read(struct cgroup_v1 list[CGROUP_V1_MOST], const char *root);
void cgroup_v1_free(struct cgroup_v1 *list, size_t n);

#endif
