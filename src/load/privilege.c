/* SPDX-License-Identifier: GPL-2.0-only */
#include "load/privilege.h"
#include "syscall/mount.h"
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CAPABILITY_SYS_ADMIN = 21, CAPABILITY_PERFMON = 38, CAPABILITY_BPF = 39 };

static bool read_text(int directory, const char *path, char *to, size_t n)
{
    int fd = openat(directory, path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return false;
    ssize_t length = read(fd, to, n - 1);
    close(fd);
    to[length > 0 ? length : 0] = 0;
    return length > 0;
}

/* Where securityfs is not mounted, by a mount of our own that nobody else sees. */
static bool read_lockdown(char *to, size_t n)
{
    if (read_text(AT_FDCWD, "/sys/kernel/security/lockdown", to, n))
        return true;
    int directory = sys_mount_detached("securityfs");
    if (directory < 0)
        return false;
    bool read = read_text(directory, "lockdown", to, n);
    close(directory);
    return read;
}

const char *lockdown_mode(void)
{
    static char mode[32];
    char text[128];

    if (!read_lockdown(text, sizeof text))
        return "";
    /* "none [integrity] confidentiality" */
    char *begin = strchr(text, '['), *end = begin ? strchr(begin, ']') : NULL;
    if (!end)
        return "";
    *end = 0;
    snprintf(mode, sizeof mode, "%s", begin + 1);
    return mode;
}

/* The number behind "\nNAME:\t" of /proc/self/status. */
static uint64_t status_number(const char *status, const char *name, int base)
{
    const char *at = strstr(status, name);

    return at ? strtoull(at + strlen(name), NULL, base) : 0;
}

static bool in_user_namespace(void)
{
    char map[128];
    unsigned long inside, outside, count;

    return read_text(AT_FDCWD, "/proc/self/uid_map", map, sizeof map) &&
           sscanf(map, "%lu %lu %lu", &inside, &outside, &count) == 3 &&
           (inside || outside || count < 0xffffffff);
}

/* NULL when there are enough, or nobody can tell. */
static const char *missing_capability(const char *status)
{
    uint64_t caps = status_number(status, "\nCapEff:", 16);
    bool admin = caps >> CAPABILITY_SYS_ADMIN & 1;
    bool bpf = caps >> CAPABILITY_BPF & 1, perfmon = caps >> CAPABILITY_PERFMON & 1;

    if (admin || (bpf && perfmon))
        return NULL;
    if (!bpf && !perfmon)
        return "needs root, or CAP_BPF and CAP_PERFMON (CAP_SYS_ADMIN before 5.8)";
    return bpf ? "needs CAP_PERFMON" : "needs CAP_BPF";
}

static const char *other_cause(const char *status)
{
    if (in_user_namespace())
        return "in a user namespace: capabilities there do not count, run in the initial one";
    if (status_number(status, "\nSeccomp:", 10))
        return "a seccomp filter is active: run without it (--security-opt seccomp=unconfined)";
    if (!(status_number(status, "\nCapEff:", 16) >> CAPABILITY_SYS_ADMIN & 1))
        return "this may need CAP_SYS_ADMIN";
    return "not for lack of capabilities: the kernel itself or a security module refuses";
}

/* A missing capability comes first: whoever lacks it is refused in any mode of lockdown. */
int explain_permission(int err, struct why *w)
{
    char status[4096];

    if (!w || (err != -EPERM && err != -EACCES))
        return err;
    struct why old = *w;
    bool known = read_text(AT_FDCWD, "/proc/self/status", status, sizeof status);
    const char *missing = known ? missing_capability(status) : NULL;
    if (missing)
        return why(w, err, "%s (%s)", old.text, missing);
    const char *mode = lockdown_mode();
    if (*mode && strcmp(mode, "none") != 0)
        return why(w, err, "%s (lockdown=%s)", old.text, mode);
    if (!known)
        return why(w, err, "%s (needs root, or CAP_BPF and CAP_PERFMON)", old.text);
    return why(w, err, "%s (%s)", old.text, other_cause(status));
}
