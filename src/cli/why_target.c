// SPDX-License-Identifier: GPL-2.0-only
#include "cli/why_target.h"
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "host/process.h"

#define COMM 15 /* what the kernel keeps of a name */

static bool is_number(const char *text)
{
    return *text && !text[strspn(text, "0123456789")];
}

static bool has_name(uint32_t pid, const char *target)
{
    struct process process;
    size_t length = strlen(target);

    if (process_read(pid, 0, &process))
        return false;
    if (length == process.comm_length && !memcmp(process.comm, target, length))
        return true;
    return length > COMM && process.comm_length == COMM && !memcmp(process.comm, target, COMM);
}

/* Whether the path has `unit` as one of its parts; or, for a path, begins with it. */
static bool is_below(const char *path, size_t length, const char *target)
{
    size_t wanted = strlen(target);

    if (*target == '/')
        return length >= wanted && !memcmp(path, target, wanted) &&
               (length == wanted || path[wanted] == '/' || target[wanted - 1] == '/');
    for (const char *end = path + length; path < end;) {
        size_t part = 0;
        while (path + part < end && path[part] != '/')
            part++;
        if (part == wanted && !memcmp(path, target, wanted))
            return true;
        path += part + 1;
    }
    return false;
}

/* Lines of /proc/PID/cgroup are "ID:CONTROLLERS:PATH". */
static bool in_unit(uint32_t pid, const char *target)
{
    char path[64], text[8192];

    snprintf(path, sizeof path, "/proc/%u/cgroup", pid);
    if (file_read(path, text, sizeof text) <= 0)
        return false;
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const char *colon = strchr(line, ':'), *group = colon ? strchr(colon + 1, ':') : NULL;
        if (group && is_below(group + 1, strcspn(group + 1, "\n"), target))
            return true;
    }
    return false;
}

static size_t collect(bool (*matches)(uint32_t pid, const char *target), const char *target, uint32_t *pids,
                      size_t most)
{
    DIR *proc = opendir("/proc");
    const struct dirent *entry;
    size_t n = 0;

    while (proc && n < most && (entry = readdir(proc)))
        if (is_number(entry->d_name) && matches((uint32_t)strtoul(entry->d_name, NULL, 10), target))
            pids[n++] = (uint32_t)strtoul(entry->d_name, NULL, 10);
    if (proc)
        closedir(proc);
    return n;
}

int why_target_find(const char *target, uint32_t *pids, size_t most, size_t *n)
{
    struct process process;
    unsigned long number = is_number(target) && strlen(target) < 8 ? strtoul(target, NULL, 10) : 0;

    *n = 0;
    if (number && !process_read((uint32_t)number, 0, &process))
        pids[(*n)++] = (uint32_t)number;
    if (!*n)
        *n = collect(has_name, target, pids, most);
    if (!*n)
        *n = collect(in_unit, target, pids, most);
    return *n ? 0 : -ESRCH;
}
