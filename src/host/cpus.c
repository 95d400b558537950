/* SPDX-License-Identifier: GPL-2.0-only */
#include "host/cpus.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define SYS_CPU "/sys/devices/system/cpu/"

/* A decimal number below MAX_CPUS at *text, which is moved past it; -EINVAL. */
static int parse_cpu(const char **text)
{
    int cpu = 0;
    const char *p = *text;

    if (*p < '0' || *p > '9')
        return -EINVAL;
    for (; *p >= '0' && *p <= '9'; p++) {
        cpu = cpu * 10 + (*p - '0');
        if (cpu >= MAX_CPUS)
            return -EINVAL;
    }
    *text = p;
    return cpu;
}

int cpus_parse(const char *list, uint8_t *mask, size_t n)
{
    int end = 0;

    if (mask)
        memset(mask, 0, n);
    while (*list && *list != '\n') {
        int first = parse_cpu(&list), last = first;

        if (first >= 0 && *list == '-') {
            list++;
            last = parse_cpu(&list);
        }
        if (first < 0 || last < first)
            return -EINVAL;
        for (int cpu = first; mask && cpu <= last && (size_t)cpu < n; cpu++)
            mask[cpu] = 1;
        if (last >= end)
            end = last + 1;
        if (*list == ',')
            list++;
        else if (*list && *list != '\n')
            return -EINVAL;
    }
    return end;
}

static int read_list(const char *path, uint8_t *mask, size_t n)
{
    char text[4096];
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return -errno;
    ssize_t length = read(fd, text, sizeof text);
    int err = length < 0 ? -errno : 0;
    close(fd);
    if (err)
        return err;
    if ((size_t)length == sizeof text) /* may have been cut inside a number */
        return -E2BIG;
    text[length] = 0;
    return cpus_parse(text, mask, n);
}

int cpus_possible(void)
{
    static int cached;

    if (!cached) {
        int n = read_list(SYS_CPU "possible", NULL, 0);
        if (n <= 0)
            return n ? n : -EINVAL;
        cached = n;
    }
    return cached;
}

int cpus_online(uint8_t *mask, size_t n)
{
    int count = 0;
    int err = read_list(SYS_CPU "online", mask, n);

    if (err < 0)
        return err;
    for (size_t i = 0; i < n; i++)
        count += mask[i];
    return count;
}

int cpus_first_online(void)
{
    uint8_t mask[MAX_CPUS];

    if (cpus_online(mask, sizeof mask) <= 0)
        return 0;
    const uint8_t *first = memchr(mask, 1, sizeof mask);
    return (int)(first - mask);
}
