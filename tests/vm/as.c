// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs a command with fewer privileges:
 *
 *   as [uid=N] [caps=NAME,...|caps=-NAME,...] [memlock=BYTES] [refuse=CALL,...] COMMAND...
 *
 * caps: these capabilities and no others, or all but these; so the command has them whatever its user is, and
 * cannot get more. memlock: RLIMIT_MEMLOCK. refuse: a seccomp filter answers EPERM to these system calls.
 */
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_REFUSED 8

struct word {
    const char *name;
    int number;
};

static const struct word capabilities[] = {
    {"dac_override", CAP_DAC_OVERRIDE},
    {"dac_read_search", CAP_DAC_READ_SEARCH},
    {"sys_ptrace", CAP_SYS_PTRACE},
    {"sys_admin", CAP_SYS_ADMIN},
    {"sys_nice", CAP_SYS_NICE},
    {"sys_resource", CAP_SYS_RESOURCE},
    {"perfmon", CAP_PERFMON},
    {"bpf", CAP_BPF},
    {NULL, 0},
};

static const struct word calls[] = {
    {"bpf", SYS_bpf}, {"perf_event_open", SYS_perf_event_open}, {"fsopen", SYS_fsopen}, {NULL, 0}};

static void give_up(const char *what)
{
    fprintf(stderr, "as: %s: %s\n", what, strerror(errno));
    exit(125);
}

static int number_of(const struct word *words, const char *name)
{
    for (; words->name; words++)
        if (!strcmp(words->name, name))
            return words->number;
    errno = EINVAL;
    give_up(name);
    return -1;
}

static int last_capability(void)
{
    int last = 0;

    while (prctl(PR_CAPBSET_READ, last + 1, 0, 0, 0) >= 0)
        last++;
    return last;
}

static uint64_t own_capabilities(void)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct sets[2];

    if (syscall(SYS_capget, &header, sets))
        give_up("capget");
    return sets[0].permitted | (uint64_t)sets[1].permitted << 32;
}

static uint64_t parse_capabilities(char *list)
{
    uint64_t mask = *list == '-' ? own_capabilities() : 0;

    for (char *name = strtok(list, ","); name; name = strtok(NULL, ","))
        if (*name == '-')
            mask &= ~(UINT64_C(1) << number_of(capabilities, name + 1));
        else
            mask |= UINT64_C(1) << number_of(capabilities, name);
    return mask;
}

/* Before the capabilities go: a filter without no_new_privs needs CAP_SYS_ADMIN. */
static void refuse(char *list)
{
    struct sock_filter code[2 * MAX_REFUSED + 2] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
    unsigned short n = 1;

    for (char *name = strtok(list, ","); name && n < 2 * MAX_REFUSED; name = strtok(NULL, ",")) {
        code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number_of(calls, name), 0, 1);
        code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    }
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {n, code};
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        give_up("seccomp");
}

static void become(uid_t uid)
{
    if (setgroups(0, NULL) || setresgid(uid, uid, uid) || prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) ||
        setresuid(uid, uid, uid))
        give_up("uid");
}

/* Root gets at exec what the bounding set leaves, others what is ambient. */
static void keep_only(uint64_t mask)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct sets[2];
    int last = last_capability();

    for (int i = 0; i < 2; i++) {
        uint32_t half = (uint32_t)(mask >> 32 * i);
        sets[i] = (struct __user_cap_data_struct){half, half, half};
    }
    if (syscall(SYS_capset, &header, sets))
        give_up("capset");
    for (int cap = 0; cap <= last; cap++)
        if (mask >> cap & 1 && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0))
            give_up("ambient capability");
}

static void bound(uint64_t mask)
{
    int last = last_capability();

    for (int cap = 0; cap <= last; cap++)
        if (!(mask >> cap & 1) && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0))
            give_up("bounding set");
}

static void limit(const char *bytes)
{
    rlim_t n = strtoull(bytes, NULL, 10);
    const struct rlimit memlock = {n, n};

    if (setrlimit(RLIMIT_MEMLOCK, &memlock))
        give_up("memlock");
}

int main(int argc, char **argv)
{
    uint64_t mask = 0;
    bool prefilter = false;
    uid_t uid = getuid();

    for (; argc > 1 && strchr(argv[1], '='); argv++, argc--) {
        char *value = strchr(argv[1], '=') + 1;
        if (!strncmp(argv[1], "uid=", 4))
            uid = (uid_t)strtoul(value, NULL, 10);
        else if (!strncmp(argv[1], "memlock=", 8))
            limit(value);
        else if (!strncmp(argv[1], "refuse=", 7))
            refuse(value);
        else if (!strncmp(argv[1], "caps=", 5))
            mask = parse_capabilities(value), prefilter = true;
        else
            break;
    }
    if (argc < 2) {
        fprintf(stderr, "as: no command\n");
        return 125;
    }
    if (prefilter)
        bound(mask);
    if (uid != getuid())
        become(uid);
    if (prefilter)
        keep_only(mask);
    execvp(argv[1], argv + 1);
    give_up(argv[1]);
    return 125;
}
