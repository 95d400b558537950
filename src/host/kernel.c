// SPDX-License-Identifier: GPL-2.0-only
#include "host/kernel.h"
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include "host/cpus.h"
#include "host/process.h"
#include "load/privilege.h"

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

    /* Where the interpreter is compiled out there is no choice, and on some kernels no file either. */
    if (file_read("/proc/sys/net/core/bpf_jit_enable", text, sizeof text) <= 0)
        snprintf(
            to, size,
            "unknown: no /proc/sys/net/core/bpf_jit_enable (in another network namespace there is none)");
    else
        snprintf(to, size, "%s",
                 text[0] == '0' ? "off: programs are interpreted, several times slower" : "on");
}

/* A mounted cgroup file system by /proc/self/mountinfo: " - cgroup2 " or " - cgroup ". */
void describe_cgroups(char *to, size_t size)
{
    static char text[65536];
    bool v1 = false, v2 = false;

    if (file_read("/proc/self/mountinfo", text, sizeof text) <= 0) {
        snprintf(to, size, "unknown: cannot read /proc/self/mountinfo");
        return;
    }
    v1 = strstr(text, " - cgroup ");
    v2 = strstr(text, " - cgroup2 ");
    snprintf(to, size, "%s", v1 && v2 ? "hybrid (v1 and v2)" : v2 ? "v2" : v1 ? "v1" : "none mounted");
}

static uint64_t effective_capabilities(void)
{
    char text[4096];
    const char *at = file_read("/proc/self/status", text, sizeof text) > 0 ? strstr(text, "\nCapEff:") : NULL;

    return at ? strtoull(at + strlen("\nCapEff:"), NULL, 16) : 0;
}

void describe_capabilities(char *to, size_t size)
{
    static const struct {
        unsigned bit;
        const char *name;
    } wanted[] = {{39, "CAP_BPF"},      {38, "CAP_PERFMON"},      {21, "CAP_SYS_ADMIN"},
                  {23, "CAP_SYS_NICE"}, {24, "CAP_SYS_RESOURCE"}, {19, "CAP_SYS_PTRACE"}};
    uint64_t have = effective_capabilities();
    size_t used = 0;

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
             *mode ? mode : "none, or not told (no lockdown module, or securityfs is not mounted)");
}
