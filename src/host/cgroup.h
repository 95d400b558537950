/* SPDX-License-Identifier: GPL-2.0-only */
/* The control groups of a process: what bounds its CPU time and its memory, and how near it is to that.
 * Versions 1 and 2, and both at once. What the mounts and the cgroup namespace of hog do not show is not
 * known. */
#ifndef HOG_HOST_CGROUP_H
#define HOG_HOST_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "host/pressure.h"

#define CGROUPS_MAX 256 /* that are remembered, the least used makes room */

/* As /proc/PID/cgroup names it, from "/" on. Not terminated. */
struct cgroup_name {
    const char *text;
    size_t length; /* 0: none */
};

/* A quota bounds a group with all below it: of those from the process's group up, one is the tightest, but
 * another one may be the one that is used up. "Since": since the reading before (earlier_ns). */
struct cgroup_cpu {
    bool known;
    struct cgroup_name path;
    struct cgroup_name tightest; /* the group with the least quota; none: no quota */
    double cpus;                 /* that quota, in CPUs */
    bool since_known;
    struct cgroup_name
        throttled;          /* the group that was throttled in most of its periods since; none: none was */
    double throttled_cpus;  /* its quota */
    double throttled_share; /* of its periods with something to run, 0..1 */
    uint64_t throttled_ns;  /* since; on several CPUs at once it counts several times */
};

/* used: what an OOM kill would be about: usage less the page cache of files, active or not, and the slab that
 * can be reclaimed (v2 alone counts it). All that goes before the kernel kills in a group: active file pages
 * too, so without them a group that only reads and writes files would always seem to be full. Shared memory
 * and tmpfs stay: they go to swap or nowhere. headroom: limit - used + what swap still takes for that group,
 * by its own limits of swap, those of the groups above and the host's free swap. */
struct cgroup_memory {
    bool known;
    struct cgroup_name path;
    struct cgroup_name tightest; /* with the least headroom; none: no limit, and what follows means nothing */
    uint64_t limit, usage, used, swap_room, headroom;
    bool at_limit;      /* usage is as near to the limit as reclaim keeps it: 1/16 or 8 MiB */
    uint64_t oom_kills; /* in it and below, since it was made; v1: in the process's own group */
    bool since_known;   /* then: */
    uint64_t oom_kills_since;
    /* The group that was held most at its limit (v2: max or high), that limit, how often it was run into (no
     * measure of pages, and v1 may not count it), and the cost: pages that were fetched again soon after they
     * had gone. */
    struct cgroup_name reclaiming; /* none: none was */
    uint64_t reclaim_limit, reclaims_since, refaults_since;
};

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

/* pid: by the numbers of /proc. start: what tells it from a later process of that number. now_ns:
 * CLOCK_MONOTONIC; what was read in the last 0.35 s (to 0.48, not all at once) is not read again.
 * The results for one now_ns are valid side by side until a call with another one. NULL: no such process, or
 * more than CGROUPS_MAX groups for one now_ns: ask about those who matter first. */
const struct cgroup *cgroups_of(struct cgroups *cgroups, uint32_t pid, uint64_t start, uint64_t now_ns);

/* Reads the groups of all processes there are, so that the first window has something to compare with. How
 * many groups are remembered. */
size_t cgroups_prime(struct cgroups *cgroups, uint64_t now_ns);

#endif
