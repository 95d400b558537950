/* SPDX-License-Identifier: GPL-2.0-only */
/* Paths of control groups by the id that the kernel reports: the inode of their directory, and
 * above that in version 1 the number of its hierarchy. */
#ifndef HOG_HOST_CGROUP_IDS_H
#define HOG_HOST_CGROUP_IDS_H

#include <stdbool.h>
#include <stdint.h>

#define CGROUP_ID_BITS 48

struct cgroup_ids;

/* root: in front of /proc and of the mount; "" but for tests. NULL: no memory. */
struct cgroup_ids *cgroup_ids_open(const char *root);
void cgroup_ids_close(struct cgroup_ids *ids);

/* As /proc/PID/cgroup would name it; NULL: not known. What is not known yet is looked for among all groups
 * that there are, but not within half a second of the time before. now: CLOCK_MONOTONIC ns. Valid until the
 * next call. */
const char *cgroup_ids_path(struct cgroup_ids *ids, uint64_t id, uint64_t now);

/* Scans for groups of version 2, at most once per half second: calls `each` for the new ones.
 */
typedef void (*cgroup_ids_fn)(void *context, uint64_t id, const char *path);
void cgroup_ids_each(struct cgroup_ids *ids, uint64_t now, cgroup_ids_fn each, void *context);

#endif
