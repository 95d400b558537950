/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/kernel/privilege.h"
#include "syscall/mount.h"
#include "syscall/bpf.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

uint64_t capabilities_effective(void)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct sets[2] = {{0}};

    if (syscall(SYS_capget, &header, sets))
        return 0;
    return sets[0].effective | (uint64_t)sets[1].effective << 32;
}

static bool capability(unsigned number)
{
    return capabilities_effective() >> number & 1;
}

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

/* Where securityfs is not mounted, by a private mount. */
const char *lockdown_mode(void)
{
    static char text[128];
    int directory = -1;
    bool read = read_text(AT_FDCWD, "/sys/kernel/security/lockdown", text, sizeof text);

    if (!read)
        directory = sys_mount_detached("securityfs");
    if (directory >= 0) {
        read = read_text(directory, "lockdown", text, sizeof text);
        close(directory);
    }
    /* "none [integrity] confidentiality" */
    char *begin = read ? strchr(text, '[') : NULL, *end = begin ? strchr(begin, ']') : NULL;
    if (!end)
        return "";
    *end = 0;
    return begin + 1;
}

bool in_user_namespace(void)
{
    char map[128], *text = map, *end;

    if (!read_text(AT_FDCWD, "/proc/self/uid_map", map, sizeof map))
        return false;
    unsigned long inside = strtoul(text, &text, 10), outside = strtoul(text, &text, 10),
                  count = strtoul(text, &end, 10);
    return end != text && (inside || outside || count < 0xffffffff);
}

const char *missing_privilege(void)
{
    bool bpf = capability(CAP_BPF), perfmon = capability(CAP_PERFMON);

    if (in_user_namespace())
        return "in a user namespace: capabilities there do not count, run in the initial one";
    if (capability(CAP_SYS_ADMIN) || (bpf && perfmon))
        return NULL;
    if (bpf || perfmon)
        return bpf ? "needs CAP_PERFMON" : "needs CAP_BPF";
    if (!geteuid()) /* Docker's root has few capabilities, and would not know what to make of "needs root" */
        return "root without capabilities, as in a container: needs CAP_BPF and CAP_PERFMON "
               "(CAP_SYS_ADMIN before 5.8), or --privileged";
    return "needs root, or CAP_BPF and CAP_PERFMON (CAP_SYS_ADMIN before 5.8)";
}

bool seccomp_active(void)
{
    char status[4096];
    const char *at =
        read_text(AT_FDCWD, "/proc/self/status", status, sizeof status) ? strstr(status, "\nSeccomp:") : NULL;

    return at && strtoul(at + strlen("\nSeccomp:"), NULL, 10);
}

/* A filter sees the call before the kernel sees that there is no such descriptor. */
bool bpf_filtered(void)
{
    return sys_bpf_map_lookup(-1, NULL, NULL) == -EPERM && !missing_privilege();
}

/* A missing capability comes first: without it, every mode of lockdown refuses. */
static const char *likely_cause(char lockdown[64])
{
    const char *missing = missing_privilege(), *mode;

    if (missing)
        return missing;
    if (bpf_filtered())
        return "a seccomp filter: in a container, --security-opt seccomp=unconfined";
    mode = lockdown_mode();
    snprintf(lockdown, 64, "lockdown=%s", mode);
    if (*mode && strcmp(mode, "none") != 0)
        return lockdown;
    if (seccomp_active())
        return "perhaps a seccomp filter: in a container, try --security-opt seccomp=unconfined";
    return capability(CAP_SYS_ADMIN)
               ? "not for lack of capabilities: the kernel itself or a security module refuses"
               : "this may need CAP_SYS_ADMIN";
}

int explain_permission(int err, struct error *why)
{
    char lockdown[64];

    if (!why || (err != -EPERM && err != -EACCES))
        return err;
    struct error old = *why;
    return error_set(why, err, "%s (%s)", old.text, likely_cause(lockdown));
}

/* Debian, Ubuntu and Android know a mode above 2, and let none but CAP_SYS_ADMIN through it. */
int explain_perf_event(int err, struct error *why)
{
    char text[16];

    if (!why || err != -EACCES || missing_privilege() || capability(CAP_SYS_ADMIN) ||
        !read_text(AT_FDCWD, "/proc/sys/kernel/perf_event_paranoid", text, sizeof text) || atoi(text) <= 2)
        return explain_permission(err, why);
    struct error old = *why;
    return error_set(why, err, "%s (kernel.perf_event_paranoid is %d: needs CAP_SYS_ADMIN, or sysctl with 2)",
                     old.text, atoi(text));
}
