// SPDX-License-Identifier: GPL-2.0-only
#include "host/process.h"
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NS_PER_TICK 10000000ull /* USER_HZ is 100 in every ABI */
/* Fields of /proc/PID/stat, proc(5) */
#define STATE_FIELD   3
#define PARENT_FIELD  4
#define SESSION_FIELD 6
#define FLAGS_FIELD   9
#define MINOR_FIELD   10
#define MAJOR_FIELD   12
#define USR_FIELD     14
#define SYS_FIELD     15
#define THREADS_FIELD 20
#define START_FIELD   22
#define CPU_FIELD     39

#define PF_KTHREAD 0x200000ul /* of the flags; <linux/sched.h> of the kernel has it, its uapi has not */

long file_read(const char *path, char *to, size_t size)
{
    int fd = openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC); /* musl's open sets the flag once more */
    size_t have = 0;

    if (fd < 0)
        return -errno;
    while (have < size - 1) {
        ssize_t n = read(fd, to + have, size - 1 - have);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            int err = -errno;
            close(fd);
            return err;
        }
        if (n == 0)
            break;
        have += (size_t)n;
    }
    close(fd);
    to[have] = '\0';
    return (long)have;
}

static const char *skip_fields(const char *p, unsigned n)
{
    while (n-- && p) {
        p = strchr(p, ' ');
        if (p)
            p++;
    }
    return p;
}

/* The name stands in parentheses and may hold any byte, parentheses and spaces too: the last ')' ends it. */
int process_parse_stat(const char *text, size_t length, struct process *out)
{
    const char *open = memchr(text, '(', length), *close = NULL;

    for (size_t i = length; i-- > 0 && !close;)
        if (text[i] == ')')
            close = text + i;
    if (!open || !close || close < open || text + length - close < 3)
        return -EIO;
    out->comm_length = (size_t)(close - open - 1);
    if (out->comm_length > sizeof out->comm)
        out->comm_length = sizeof out->comm;
    memcpy(out->comm, open + 1, out->comm_length);

    const char *state = close + 2, *start = skip_fields(state, START_FIELD - STATE_FIELD);
    const char *cpu = skip_fields(start, CPU_FIELD - START_FIELD);
    const char *flags = skip_fields(state, FLAGS_FIELD - STATE_FIELD);
    const char *parent = skip_fields(state, PARENT_FIELD - STATE_FIELD);
    const char *threads = skip_fields(state, THREADS_FIELD - STATE_FIELD);
    char *end;
    if (!start)
        return -EIO;
    out->state = *state;
    out->kernel = strtoul(flags, NULL, 10) & PF_KTHREAD;
    out->minor = strtoull(skip_fields(state, MINOR_FIELD - STATE_FIELD), NULL, 10);
    out->major = strtoull(skip_fields(state, MAJOR_FIELD - STATE_FIELD), NULL, 10);
    out->usr_ticks = strtoull(skip_fields(state, USR_FIELD - STATE_FIELD), NULL, 10);
    out->sys_ticks = strtoull(skip_fields(state, SYS_FIELD - STATE_FIELD), NULL, 10);
    out->cpu = cpu ? atoi(cpu) : -1;
    out->parent = (uint32_t)strtoul(parent, NULL, 10);
    out->session = (uint32_t)strtoul(skip_fields(state, SESSION_FIELD - STATE_FIELD), NULL, 10);
    out->threads = (uint32_t)strtoul(threads, NULL, 10);
    out->start_ticks = strtoull(start, &end, 10);
    return end == start ? -EIO : 0;
}

int status_number(const char *text, size_t length, const char *name, unsigned skip, uint64_t *value)
{
    size_t name_length = strlen(name);
    const char *line = text, *end = text + length;

    while (line < end) {
        const char *next = memchr(line, '\n', (size_t)(end - line));
        next = next ? next + 1 : end;
        if ((size_t)(next - line) > name_length && !memcmp(line, name, name_length) &&
            line[name_length] == ':') {
            const char *p = line + name_length + 1;
            char *after = NULL;
            for (unsigned i = 0; i <= skip; i++, p = after) {
                *value = strtoull(p, &after, 10);
                if (after == p || after > next)
                    return -EIO;
            }
            return 0;
        }
        line = next;
    }
    return -ENOENT;
}

int64_t namespace_offset(const char *clock)
{
    char text[256], *rest;
    const char *line = NULL;

    if (file_read("/proc/self/timens_offsets", text, sizeof text) > 0)
        line = strstr(text, clock);
    if (!line)
        return 0;
    int64_t ns = strtoll(line + strlen(clock), &rest, 10) * 1000000000;
    return ns + strtoll(rest, NULL, 10);
}

/* In a time namespace /proc shows start times moved by the namespace's offset; the kernel's own are not. */
static int64_t boottime_offset(void)
{
    static bool known;
    static int64_t offset;

    if (!known)
        offset = namespace_offset("boottime");
    known = true;
    return offset;
}

int process_read(uint32_t process, uint32_t thread, struct process *out)
{
    char path[64], text[1024];

    if (thread)
        snprintf(path, sizeof path, "/proc/%u/task/%u/stat", process, thread);
    else
        snprintf(path, sizeof path, "/proc/%u/stat", process);
    long n = file_read(path, text, sizeof text);
    if (n < 0)
        return n == -ENOENT ? -ESRCH : (int)n;
    if (n == 0)
        return -ESRCH;
    int err = process_parse_stat(text, (size_t)n, out);
    if (!err)
        out->start_ns = out->start_ticks * NS_PER_TICK - (uint64_t)boottime_offset();
    return err;
}

bool proc_tells_all(void)
{
    struct process init;

    return !process_read(1, 0, &init);
}

static int process_status(uint32_t pid, const char *name, unsigned skip, uint32_t *value)
{
    char path[64], text[4096];
    uint64_t wide = 0;

    snprintf(path, sizeof path, "/proc/%u/status", pid);
    long n = file_read(path, text, sizeof text);
    if (n <= 0)
        return n == -ENOENT || n == 0 ? -ESRCH : (int)n;
    int err = status_number(text, (size_t)n, name, skip, &wide);
    *value = (uint32_t)wide;
    return err;
}

int process_user(uint32_t process, uint32_t *uid)
{
    return process_status(process, "Uid", 1, uid);
}

int process_rss(uint32_t process, uint32_t *kib)
{
    return process_status(process, "VmRSS", 0, kib);
}

int process_of_thread(uint32_t thread, uint32_t *process)
{
    return process_status(thread, "Tgid", 0, process);
}
