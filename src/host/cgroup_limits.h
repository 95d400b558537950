/* SPDX-License-Identifier: GPL-2.0-only */
/* What bounds a group: read from its directory and those above. */
#ifndef HOG_HOST_CGROUP_LIMITS_H
#define HOG_HOST_CGROUP_LIMITS_H

#include "host/cgroup_place.h"
#include "host/memory.h"

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
