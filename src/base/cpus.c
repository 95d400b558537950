/* SPDX-License-Identifier: GPL-2.0-only */
#include "base/cpus.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define CPUS_POSSIBLE "/sys/devices/system/cpu/possible"

/* A decimal number below MAX_CPUS at *text, which is moved past it; -EINVAL, or -ERANGE for a larger one. */
static int parse_cpu(const char **text)
{
    int cpu = 0;
    const char *p = *text;

    if (*p < '0' || *p > '9')
        return -EINVAL;
    for (; *p >= '0' && *p <= '9'; p++) {
        cpu = cpu * 10 + (*p - '0');
        if (cpu >= MAX_CPUS)
            return -ERANGE;
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
        if (first < 0 || last < 0)
            return first < 0 ? first : last;
        if (last < first)
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

/* The list in an open file. E2BIG: it may have been cut inside a number. */
static ssize_t read_text(int fd, char text[LIST_BYTES])
{
    ssize_t length = pread(fd, text, LIST_BYTES, 0);

    if (length < 0)
        return -errno;
    if (length == LIST_BYTES)
        return -E2BIG;
    text[length] = 0;
    return length;
}

static int read_list(const char *path, uint8_t *mask, size_t n)
{
    char text[LIST_BYTES];
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return -errno;
    ssize_t length = read_text(fd, text);
    close(fd);
    return length < 0 ? (int)length : cpus_parse(text, mask, n);
}

int cpus_possible(void)
{
    static int cached;

    if (!cached) {
        int n = read_list(CPUS_POSSIBLE, NULL, 0);
        if (n <= 0)
            return n ? n : -EINVAL;
        cached = n;
    }
    return cached;
}

static int count(const uint8_t *mask, size_t n)
{
    int set = 0;

    for (size_t i = 0; i < n; i++)
        set += mask[i];
    return set;
}

int cpus_online(uint8_t *mask, size_t n)
{
    int err = read_list(CPUS_ONLINE, mask, n);

    return err < 0 ? err : count(mask, n);
}

int cpus_watch_open(struct cpus_watch *watch)
{
    watch->fd = open(CPUS_ONLINE, O_RDONLY | O_CLOEXEC);
    watch->text[0] = 0;
    return watch->fd < 0 ? -errno : 0;
}

int cpus_watch(struct cpus_watch *watch, uint8_t *mask, size_t n)
{
    char text[LIST_BYTES];
    ssize_t length = read_text(watch->fd, text);

    if (length < 0)
        return (int)length;
    if (!strcmp(text, watch->text))
        return 0;
    memcpy(watch->text, text, (size_t)length + 1);
    int err = cpus_parse(text, mask, n);
    return err < 0 ? err : 1;
}

void cpus_watch_close(struct cpus_watch *watch)
{
    if (watch->fd > 0)
        close(watch->fd);
    watch->fd = 0;
}

int cpus_first_online(void)
{
    uint8_t mask[MAX_CPUS];

    if (cpus_online(mask, sizeof mask) <= 0)
        return 0;
    const uint8_t *first = memchr(mask, 1, sizeof mask);
    return (int)(first - mask);
}
