// SPDX-License-Identifier: GPL-2.0-only
/* The time of a tool from fork and exec until its programs are attached.
 *
 *   start PREFIX COMMAND [ARG...]     prints milliseconds until the first one is
 *   start -a PREFIX COMMAND [ARG...]  until all are: until the last one before QUIET_MS without another
 *
 * Nothing traces the tool: this process, on another CPU where there is one, asks the kernel without a pause
 * for the next BPF link until there is one of a program whose name begins with PREFIX. The tool's output is
 * thrown away, and it is killed when it is attached. */
#include <linux/bpf.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "syscall/bpf.h"

#define LIMIT_MS 10000
#define QUIET_MS 400

static double now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void stay_on(int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
}

static uint32_t last_link(void)
{
    uint32_t id = 0;

    while (sys_bpf_next_id(BPF_LINK_GET_NEXT_ID, id, &id) == 0)
        ;
    return id;
}

/* Does the link belong to a program of that name? */
static bool is_of(uint32_t id, const char *prefix)
{
    struct bpf_link_info link;
    struct bpf_prog_info program;
    bool right = false;

    int fd = sys_bpf_fd_by_id(BPF_LINK_GET_FD_BY_ID, id);
    if (fd < 0)
        return false;
    if (sys_bpf_info(fd, &link, sizeof link) == 0) {
        int prog = sys_bpf_fd_by_id(BPF_PROG_GET_FD_BY_ID, link.prog_id);
        if (prog >= 0) {
            right = sys_bpf_info(prog, &program, sizeof program) == 0 &&
                    !strncmp(program.name, prefix, strlen(prefix));
            close(prog);
        }
    }
    close(fd);
    return right;
}

/* Does the process hold that link? Other tools may attach at the same time. */
static bool holds(pid_t pid, uint32_t id)
{
    char path[64], line[64], wanted[32];
    bool held = false;

    snprintf(wanted, sizeof wanted, "link_id:\t%u\n", id);
    for (int fd = 3, missing = 0; missing < 64 && !held; fd++) {
        snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", (int)pid, fd);
        FILE *f = fopen(path, "re");
        missing = f ? 0 : missing + 1;
        while (f && !held && fgets(line, sizeof line, f))
            held = !strcmp(line, wanted);
        if (f)
            fclose(f);
    }
    return held;
}

static pid_t run(char **command, int cpu)
{
    pid_t pid = fork();

    if (pid)
        return pid;
    int null = open("/dev/null", O_RDWR);
    if (null >= 0) {
        dup2(null, 0);
        dup2(null, 1);
        dup2(null, 2);
    }
    stay_on(cpu);
    execvp(command[0], command);
    _exit(127);
}

/* Milliseconds since `begin`; negative if it ended without having attached one. */
static double attached_after(pid_t pid, uint32_t seen, const char *prefix, double quiet_ms, double begin)
{
    double attached = -1;
    uint32_t id;
    int status;

    for (;;) {
        double now = now_ms() - begin;
        if (attached >= 0 && now - attached >= quiet_ms)
            return attached;
        if (sys_bpf_next_id(BPF_LINK_GET_NEXT_ID, seen, &id) == 0) {
            /* Another program's, or not settled yet: check again unless a later one is there. */
            uint32_t later;
            bool right = is_of(id, prefix) && (!quiet_ms || holds(pid, id));
            if (right)
                attached = now;
            if (right || sys_bpf_next_id(BPF_LINK_GET_NEXT_ID, id, &later) == 0)
                seen = id;
        }
        if (now > LIMIT_MS || waitpid(pid, &status, WNOHANG) == pid)
            return attached >= 0 ? attached : -1;
    }
}

int main(int argc, char **argv)
{
    int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN), status;
    bool all = argc > 1 && !strcmp(argv[1], "-a");
    uint32_t seen = last_link();

    argv += all;
    argc -= all;
    if (argc < 3) {
        fputs("usage: start [-a] PREFIX COMMAND [ARG...]\n", stderr);
        return 2;
    }
    stay_on(0);
    double begin = now_ms();
    pid_t pid = run(argv + 2, cpus > 1 ? 1 : 0);
    double attached = attached_after(pid, seen, argv[1], all ? QUIET_MS : 0, begin);
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    if (attached < 0) {
        fprintf(stderr, "start: %s attached no program %s...\n", argv[2], argv[1]);
        return 1;
    }
    printf("%.3f\n", attached);
    return 0;
}
