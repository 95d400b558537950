/* SPDX-License-Identifier: GPL-2.0-only */
/* The control groups of a process: what bounds its CPU time and its memory, and how near it is to that.
 * Versions 1 and 2, and both at once. What the mounts and the cgroup namespace of hog do not show is not
 * known. */
#ifndef HOG_HOST_CGROUP_H
#define HOG_HOST_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "host/cgroup_limits.h"
#include "host/pressure.h"

#define CGROUPS_MAX 256 /* that are remembered, the least used makes room */

struct cgroup {
    struct cgroup_cpu cpu;
    struct cgroup_memory memory;
    struct cgroup_name unified;          /* the path in version 2; none: there is none */
    struct pressure pressure[PRESSURES]; /* of that group */
    struct pressure earlier[PRESSURES];  /* at the reading before */
    uint64_t read_ns, earlier_ns;        /* when; earlier_ns 0: this is the first */
};

struct cgroups;
/* root: in front of /proc and of each mount; "" but for tests. NULL: no memory. Without any control group on
 * the host, all is not known. */
struct cgroups *cgroups_open(const char *root);
void cgroups_close(struct cgroups *cgroups);

/* pid: as in /proc. start: distinguishes it from a later process with the same PID. now_ns:
 * CLOCK_MONOTONIC; what was read in the last 0.35 s (to 0.48, not all at once) is not read again.
 * The results for one now_ns are valid side by side until a call with another one. NULL: no such process, or
 * more than CGROUPS_MAX groups for one now_ns: ask for the most important first. */
const struct cgroup *cgroups_of(struct cgroups *cgroups, uint32_t pid, uint64_t start, uint64_t now_ns);

/* Reads the groups of all processes there are, so that the first window has something to compare with. How
 * many groups are remembered. */
size_t cgroups_prime(struct cgroups *cgroups, uint64_t now_ns);

#endif
