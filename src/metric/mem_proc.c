// SPDX-License-Identifier: GPL-2.0-only
#include "metric/mem_proc.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "host/process.h"

int mem_parse_status(const char *text, size_t length, struct mem_levels *levels)
{
    const struct {
        const char *name;
        uint64_t *to;
    } lines[] = {
        {"VmRSS", &levels->rss},      {"RssAnon", &levels->anon},   {"RssFile", &levels->file},
        {"RssShmem", &levels->shmem}, {"VmSwap", &levels->swap},    {"VmSize", &levels->vm},
        {"VmHWM", &levels->high_rss}, {"VmPeak", &levels->high_vm},
    };
    uint64_t pid;

    *levels = (struct mem_levels){0};
    if (status_number(text, length, "Pid", 0, &pid))
        return -EIO;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        int err = status_number(text, length, lines[i].name, 0, lines[i].to);
        if (err == -ENOENT && i == 0)
            return -ENODATA;
        if (err == -EIO)
            return err;
    }
    return 0;
}

static long read_file(const char *path, char *to, size_t size)
{
    long n = file_read(path, to, size);

    return n == -ENOENT || n == 0 ? -ESRCH : n;
}

static int read_status(const char *path, struct mem_levels *levels)
{
    char text[4096];
    long n = read_file(path, text, sizeof text);

    return n < 0 ? (int)n : mem_parse_status(text, (size_t)n, levels);
}

/* By a thread that lives on when the first one has ended. */
static int read_threads(uint32_t pid, struct mem_levels *levels)
{
    char path[64];
    int err = -ENODATA;

    snprintf(path, sizeof path, "/proc/%u/task", pid);
    DIR *directory = opendir(path);
    if (!directory)
        return -ESRCH;
    for (const struct dirent *entry; err && (entry = readdir(directory));) {
        uint32_t thread = (uint32_t)strtoul(entry->d_name, NULL, 10);
        if (!thread || thread == pid)
            continue;
        snprintf(path, sizeof path, "/proc/%u/task/%u/status", pid, thread);
        err = read_status(path, levels);
    }
    closedir(directory);
    return err;
}

int mem_read_status(uint32_t pid, struct mem_levels *levels)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%u/status", pid);
    int err = read_status(path, levels);
    return err == -ENODATA ? read_threads(pid, levels) : err;
}

int mem_parse_pss(const char *text, size_t length, uint64_t *kib)
{
    return status_number(text, length, "Pss", 0, kib);
}

int mem_read_pss(uint32_t pid, uint64_t *kib)
{
    char path[64], text[4096];

    snprintf(path, sizeof path, "/proc/%u/smaps_rollup", pid);
    long n = read_file(path, text, sizeof text);

    return n < 0 ? (int)n : mem_parse_pss(text, (size_t)n, kib);
}

int mem_each_pid(mem_pid_fn fn, void *context)
{
    DIR *directory = opendir("/proc");

    if (!directory)
        return -errno;
    for (const struct dirent *entry; (entry = readdir(directory));) {
        uint32_t pid = (uint32_t)strtoul(entry->d_name, NULL, 10);
        if (pid)
            fn(context, pid);
    }
    closedir(directory);
    return 0;
}
