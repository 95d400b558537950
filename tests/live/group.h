/* SPDX-License-Identifier: GPL-2.0-only */
/* Two groups, one in the other, for a test: quota and limit are on the outer one. In version 1, if the host
 * has its controllers there; otherwise in version 2, which is mounted if necessary. */
#ifndef HOG_TESTS_GROUP_H
#define HOG_TESTS_GROUP_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define GROUP_PATH 512

static char group_cpu[GROUP_PATH], group_memory[GROUP_PATH]; /* mount points */
static char group_v2[GROUP_PATH];
static char group_mounted[32], group_names[2][64];
static bool group_is_v1;

static inline bool group_v1(void)
{
    return group_is_v1;
}

static inline const char *group_outer(void)
{
    return group_names[0];
}

static inline const char *group_inner(void)
{
    return group_names[1];
}

static inline int group_write(const char *mount, const char *group, const char *file, const char *text)
{
    char path[2 * GROUP_PATH];

    snprintf(path, sizeof path, "%s%s/%s", mount, group, file);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : write(fd, text, strlen(text));
    if (fd >= 0)
        close(fd);
    return n < 0 ? -1 : 0;
}

static inline int group_number(const char *mount, const char *file, uint64_t value)
{
    char text[32];

    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    return group_write(mount, group_outer(), file, text);
}

/* The number after a word in a file of that group; UINT64_MAX: none. */
static inline uint64_t group_told(const char *mount, const char *group, const char *file, const char *word)
{
    char path[2 * GROUP_PATH], line[256];
    uint64_t value = UINT64_MAX;

    snprintf(path, sizeof path, "%s%s/%s", mount, group, file);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f)) {
        char *at = strstr(line, word);
        if (at && value == UINT64_MAX)
            value = strtoull(at + strlen(word), NULL, 10);
    }
    if (f)
        fclose(f);
    return value;
}

static inline uint64_t group_throttled_ns(void)
{
    return group_is_v1 ? group_told(group_cpu, group_outer(), "cpu.stat", "throttled_time ")
                       : group_told(group_cpu, group_outer(), "cpu.stat", "throttled_usec ") * 1000;
}

static inline uint64_t group_oom_kills(void)
{
    /* version 1 counts in the victim's group */
    return group_is_v1 ? group_told(group_memory, group_inner(), "memory.oom_control", "oom_kill ")
                       : group_told(group_memory, group_outer(), "memory.events", "oom_kill ");
}

/* How often the limit was reached. */
static inline uint64_t group_reclaims(void)
{
    uint64_t both;

    if (!group_is_v1)
        return group_told(group_memory, group_outer(), "memory.events", "max ");
    both = group_told(group_memory, group_outer(), "memory.memsw.failcnt", "");
    return group_told(group_memory, group_outer(), "memory.failcnt", "") + (both == UINT64_MAX ? 0 : both);
}

/* For the group of version 2 that a child is in: the inner one, or else this process's own. */
static inline uint64_t group_pressure_us(void)
{
    char line[GROUP_PATH], own[GROUP_PATH] = "";

    if (!group_is_v1)
        return group_told(group_v2, group_inner(), "cpu.pressure", "total=");
    FILE *f = fopen("/proc/self/cgroup", "re");
    while (f && fgets(line, sizeof line, f))
        sscanf(line, "0::%511s", own);
    if (f)
        fclose(f);
    return group_v2[0] ? group_told(group_v2, own, "cpu.pressure", "total=") : UINT64_MAX;
}

static inline int group_limit(uint64_t bytes)
{
    if (!group_is_v1)
        return group_number(group_memory, "memory.max", bytes);
    if (group_number(group_memory, "memory.limit_in_bytes", bytes))
        return -1;
    group_number(group_memory, "memory.memsw.limit_in_bytes", bytes); /* not everywhere */
    return 0;
}

static inline int group_enter(pid_t pid)
{
    char text[32];

    snprintf(text, sizeof text, "%d", pid);
    if (group_write(group_memory, group_inner(), "cgroup.procs", text))
        return -1;
    return group_is_v1 ? group_write(group_cpu, group_inner(), "cgroup.procs", text) : 0;
}

static inline void group_find(void)
{
    char line[4096], point[GROUP_PATH], type[32], options[256];
    FILE *f = fopen("/proc/self/mounts", "re");

    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "%*s %511s %31s %255s", point, type, options) != 3)
            continue;
        strcat(options, ",");
        if (!strcmp(type, "cgroup2"))
            strcpy(group_v2, point);
        else if (!strcmp(type, "cgroup") && strstr(options, ",cpu,"))
            strcpy(group_cpu, point);
        if (!strcmp(type, "cgroup") && strstr(options, ",memory,"))
            strcpy(group_memory, point);
    }
    if (f)
        fclose(f);
    group_is_v1 = group_cpu[0] && group_memory[0];
    if (group_is_v1)
        return;
    if (!group_v2[0]) {
        strcpy(group_mounted, "/tmp/hog-cgroup-XXXXXX");
        if (mkdtemp(group_mounted) && !mount("none", group_mounted, "cgroup2", 0, NULL))
            strcpy(group_v2, group_mounted);
    }
    strcpy(group_cpu, group_v2);
    strcpy(group_memory, group_v2);
}

static inline int group_mkdir(const char *mount, const char *group)
{
    char path[2 * GROUP_PATH];

    snprintf(path, sizeof path, "%s%s", mount, group);
    return mkdir(path, 0755);
}

/* NULL, or what is missing. */
static inline const char *group_begin(unsigned quota_us, unsigned period_us, uint64_t limit)
{
    static const char *const missing =
        "needs CGROUPCPUMEMORY: no control group has the controllers of CPU and memory";
    char text[64];

    group_find();
    snprintf(group_names[0], sizeof group_names[0], "/hog-%d", getpid());
    snprintf(group_names[1], sizeof group_names[1], "/hog-%d/inner", getpid());
    if (!group_is_v1 && group_write(group_cpu, "", "cgroup.subtree_control", "+cpu +memory"))
        return missing;
    for (int i = 0; i < 2; i++) {
        if (group_mkdir(group_cpu, group_names[i]) ||
            (group_is_v1 && strcmp(group_cpu, group_memory) && group_mkdir(group_memory, group_names[i])))
            return missing;
        if (!i && group_is_v1)
            group_write(group_memory, group_names[i], "memory.use_hierarchy",
                        "1"); /* the default from 5.11 on */
        if (!i && !group_is_v1)
            group_write(group_cpu, group_names[i], "cgroup.subtree_control", "+cpu +memory");
    }
    snprintf(text, sizeof text, "%u %u", quota_us, period_us);
    int err = group_is_v1 ? group_number(group_cpu, "cpu.cfs_period_us", period_us) ||
                                group_number(group_cpu, "cpu.cfs_quota_us", quota_us)
                          : group_write(group_cpu, group_outer(), "cpu.max", text);
    if (!group_is_v1)
        group_write(group_memory, group_outer(), "memory.swap.max", "0");
    return err || group_limit(limit) ? missing : NULL;
}

/* A group whose last process has just ended may still be busy. */
static inline int group_rmdir(const char *mount, const char *group)
{
    char path[2 * GROUP_PATH];
    int err = -1;

    snprintf(path, sizeof path, "%s%s", mount, group);
    for (int i = 0; i < 200 && err; i++, usleep(10000))
        err = rmdir(path);
    return err;
}

static inline int group_end(void)
{
    int err = 0;

    for (int i = 1; i >= 0; i--) {
        err |= group_rmdir(group_cpu, group_names[i]);
        if (group_is_v1 && strcmp(group_cpu, group_memory))
            err |= group_rmdir(group_memory, group_names[i]);
    }
    if (group_mounted[0]) {
        err |= umount(group_mounted);
        rmdir(group_mounted);
    }
    return err;
}

#endif
