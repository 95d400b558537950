// SPDX-License-Identifier: GPL-2.0-only
#include "cli/doctor_host.h"
#include <errno.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "base/cpus.h"
#include "host/process.h"
#include "loader/kernel/locked.h"
#include "loader/kernel/privilege.h"
#include "loader/kernel/tracefs.h"

void describe_kernel(char *to, size_t size)
{
    struct utsname name;

    if (uname(&name))
        snprintf(to, size, "unknown: %s", strerror(errno));
    else
        snprintf(to, size, "%s %s", name.release, name.machine);
}

void describe_btf(char *to, size_t size)
{
    struct stat st;

    if (stat("/sys/kernel/btf/vmlinux", &st))
        snprintf(to, size,
                 "none: no /sys/kernel/btf/vmlinux (CONFIG_DEBUG_INFO_BTF, or sysfs is not mounted)");
    else
        snprintf(to, size, "/sys/kernel/btf/vmlinux, %lld KiB", (long long)st.st_size / 1024);
}

void describe_jit(char *to, size_t size)
{
    char text[16];

    /* With CONFIG_BPF_JIT_ALWAYS_ON there is no choice, and some kernels do not even have the file. */
    if (file_read("/proc/sys/net/core/bpf_jit_enable", text, sizeof text) <= 0)
        snprintf(
            to, size,
            "unknown: no /proc/sys/net/core/bpf_jit_enable (in another network namespace there is none)");
    else
        snprintf(to, size, "%s",
                 text[0] == '0' ? "off: programs are interpreted, several times slower" : "on");
}

/* Searches /proc/self/mountinfo, which is long on container hosts, for " - cgroup2 " and " - cgroup ".
 * (Blanks in paths are escaped there.) */
void describe_cgroups(char *to, size_t size)
{
    FILE *mounts = fopen("/proc/self/mountinfo", "re");
    bool v1 = false, v2 = false;
    size_t room = 0;
    char *line = NULL;

    if (!mounts) {
        snprintf(to, size, "unknown: cannot read /proc/self/mountinfo");
        return;
    }
    while (getline(&line, &room, mounts) > 0) {
        v1 |= strstr(line, " - cgroup ") != NULL;
        v2 |= strstr(line, " - cgroup2 ") != NULL;
    }
    free(line);
    fclose(mounts);
    snprintf(to, size, "%s", v1 && v2 ? "hybrid (v1 and v2)" : v2 ? "v2" : v1 ? "v1" : "none mounted");
}

void describe_capabilities(char *to, size_t size)
{
    static const struct {
        unsigned bit;
        const char *name;
    } wanted[] = {
        {CAP_BPF, "CAP_BPF"},
        {CAP_PERFMON, "CAP_PERFMON"},
        {CAP_SYS_ADMIN, "CAP_SYS_ADMIN"},
        {CAP_SYS_NICE, "CAP_SYS_NICE"},
        {CAP_SYS_RESOURCE, "CAP_SYS_RESOURCE"},
        {CAP_SYS_PTRACE, "CAP_SYS_PTRACE"},
        {CAP_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH"},
    };
    uint64_t have = capabilities_effective();
    size_t used = 0;

    if (in_user_namespace()) {
        snprintf(to, size, "none that count: in a user namespace of its own");
        return;
    }
    to[0] = '\0';
    for (int missing = 0; missing < 2; missing++)
        for (size_t i = 0; i < sizeof wanted / sizeof *wanted && used < size; i++)
            if ((have >> wanted[i].bit & 1) != (uint64_t)missing)
                used += (size_t)snprintf(to + used, size - used, "%s%s%s", used ? ", " : "",
                                         missing ? "no " : "", wanted[i].name);
}

void describe_cpus(char *to, size_t size)
{
    static uint8_t mask[MAX_CPUS];
    int possible = cpus_possible(), online = cpus_online(mask, sizeof mask);

    if (possible < 0 || online < 0)
        snprintf(to, size, "unknown: cannot read /sys/devices/system/cpu");
    else
        snprintf(to, size, "%d online, %d possible", online, possible);
}

void describe_lockdown(char *to, size_t size)
{
    const char *mode = lockdown_mode();

    snprintf(to, size, "%s",
             *mode ? mode : "none, or unknown (no lockdown module, or securityfs is not mounted)");
}

void describe_tracefs(char *to, size_t size)
{
    const char *place = NULL;
    struct error why;
    int fd = tracefs_open_mounted(&place);
    bool mounted = fd >= 0;

    if (!mounted)
        fd = tracefs_open(&why);
    snprintf(to, size, "%s", mounted ? place : fd >= 0 ? "not mounted: hog opens one of its own" : why.text);
    if (fd >= 0)
        close(fd);
}

void describe_locked_memory(char *to, size_t size)
{
    *to = '\0';
    if (locked_memory_bounds())
        snprintf(to, size,
                 "%llu KiB, and this kernel counts BPF memory (ulimit -l, or CAP_SYS_RESOURCE, for more)",
                 (unsigned long long)locked_memory_limit() / 1024);
}

void describe_seccomp(char *to, size_t size)
{
    *to = '\0';
    if (bpf_filtered())
        snprintf(to, size, "a filter refuses bpf(2): in a container, --security-opt seccomp=unconfined");
    else if (seccomp_active())
        snprintf(to, size, "a filter is active");
}
