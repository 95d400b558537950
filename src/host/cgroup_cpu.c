// SPDX-License-Identifier: GPL-2.0-only
#include "host/cgroup_limits.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STAT_BYTES 2048
#define NS_PER_US  1000

/* cpu.max: "QUOTA PERIOD" or "max PERIOD", in microseconds. */
static int quota_v2(const struct cgroup_walk *walk, unsigned i, uint64_t *quota, uint64_t *period)
{
    char text[64], *rest;
    long n = cgroup_file(walk, i, "cpu.max", text, sizeof text);

    if (n < 0)
        return (int)n;
    *quota = UINT64_MAX;
    if (!strncmp(text, "max ", 4))
        return 0;
    *quota = strtoull(text, &rest, 10);
    if (rest == text || *rest != ' ')
        return -EIO;
    *period = strtoull(rest, NULL, 10);
    return 0;
}

static int quota_v1(const struct cgroup_walk *walk, unsigned i, uint64_t *quota, uint64_t *period)
{
    char text[64];
    long n = cgroup_file(walk, i, "cpu.cfs_quota_us", text, sizeof text);

    if (n < 0)
        return (int)n;
    *quota = UINT64_MAX;
    if (text[0] == '-')
        return 0;
    int err = cgroup_number(walk, i, "cpu.cfs_quota_us", quota);
    return err ? err : cgroup_number(walk, i, "cpu.cfs_period_us", period);
}

/* 1: it has one; 0: none; -EIO: what is there is none. */
static int quota_of(const struct cgroup_walk *walk, unsigned i, bool v1, double *cpus)
{
    uint64_t quota = 0, period = 0;
    int err = v1 ? quota_v1(walk, i, &quota, &period) : quota_v2(walk, i, &quota, &period);

    if (err)
        return err == -EIO ? -EIO : 0;
    if (quota == UINT64_MAX)
        return 0;
    if (!quota || !period)
        return -EIO;
    *cpus = (double)quota / (double)period;
    return 1;
}

static bool counts_of(const struct cgroup_walk *walk, unsigned i, struct cgroup_quota_counts *counts)
{
    char text[STAT_BYTES];

    if (cgroup_file(walk, i, "cpu.stat", text, sizeof text) < 0 ||
        !cgroup_value(text, "nr_periods", &counts->periods) ||
        !cgroup_value(text, "nr_throttled", &counts->throttled))
        return false;
    if (cgroup_value(text, "throttled_usec", &counts->throttled_ns))
        counts->throttled_ns *= NS_PER_US;
    else if (!cgroup_value(text, "throttled_time", &counts->throttled_ns))
        return false;
    return counts->known = true;
}

/* Takes the i-th group for the one that is throttled, if it is more than those before. */
static void compare(const struct cgroup_walk *walk, unsigned i, double cpus,
                    const struct cgroup_quota_counts *before, const struct cgroup_quota_counts *now,
                    struct cgroup_cpu *cpu)
{
    if (!before->known || !now->known || now->periods < before->periods ||
        now->throttled < before->throttled || now->throttled_ns < before->throttled_ns)
        return;
    cpu->since_known = true;
    uint64_t periods = now->periods - before->periods, throttled = now->throttled - before->throttled;
    double share = throttled && periods > throttled ? (double)throttled / (double)periods : throttled > 0;
    if (share <= cpu->throttled_share)
        return;
    cpu->throttled = walk->name[i];
    cpu->throttled_cpus = cpus;
    cpu->throttled_share = share;
    cpu->throttled_ns = now->throttled_ns - before->throttled_ns;
}

void cgroup_cpu_read(const struct cgroup_walk *walk, bool v1, struct cgroup_quota_counts *counts,
                     struct cgroup_cpu *cpu)
{
    cpu->known = walk->depth > 0;
    for (unsigned i = 0; i < walk->depth; i++) {
        struct cgroup_quota_counts now = {0};
        double cpus = 0;
        int limited = quota_of(walk, i, v1, &cpus);
        if (limited < 0)
            cpu->known = false;
        if (limited > 0 && (!cpu->tightest.length || cpus < cpu->cpus)) {
            cpu->tightest = walk->name[i];
            cpu->cpus = cpus;
        }
        if (limited > 0 && counts_of(walk, i, &now))
            compare(walk, i, cpus, &counts[i], &now, cpu);
        counts[i] = now;
    }
    if (!cpu->known)
        *cpu = (struct cgroup_cpu){.path = cpu->path};
}
