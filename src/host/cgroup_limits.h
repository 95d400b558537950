/* SPDX-License-Identifier: GPL-2.0-only */
/* What bounds a group: read from its directory and those above. */
#ifndef HOG_HOST_CGROUP_LIMITS_H
#define HOG_HOST_CGROUP_LIMITS_H

#include "host/cgroup_place.h"
#include "host/memory.h"

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
 * can be reclaimed (only v2 counts it). All that goes before the kernel kills in a group: active file pages
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

/* What counts up, at the last reading, of each group of a walk. */
struct cgroup_quota_counts {
    bool known;
    uint64_t periods, throttled, throttled_ns;
};
struct cgroup_memory_counts {
    bool known;
    uint64_t reclaims, refaults, oom_kills;
};

/* Fill in all but the path; counts has CGROUP_DEPTH of them, all zero at first, and they are brought up to
 * date. */
void cgroup_cpu_read(const struct cgroup_walk *walk, bool v1, struct cgroup_quota_counts *counts,
                     struct cgroup_cpu *cpu);
void cgroup_memory_read(const struct cgroup_walk *walk, bool v1, const struct memory *host,
                        struct cgroup_memory_counts *counts, struct cgroup_memory *memory);

#endif
