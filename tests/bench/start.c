// SPDX-License-Identifier: GPL-2.0-only
/* The time of a tool from fork and exec until its first program is attached.
 *
 *   start PREFIX COMMAND [ARG...]     prints milliseconds
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

int main(int argc, char **argv)
{
    int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN), status;
    uint32_t seen = last_link(), id = seen;

    if (argc < 3) {
        fputs("usage: start PREFIX COMMAND [ARG...]\n", stderr);
        return 2;
    }
    stay_on(0);
    double begin = now_ms();
    pid_t pid = run(argv + 2, cpus > 1 ? 1 : 0);
    for (;;) {
        if (sys_bpf_next_id(BPF_LINK_GET_NEXT_ID, seen, &id) == 0) {
            if (is_of(id, argv[1]))
                break;
            /* Another program's, or not settled yet: check again unless a later one is there. */
            uint32_t later;
            if (sys_bpf_next_id(BPF_LINK_GET_NEXT_ID, id, &later) == 0)
                seen = id;
        }
        if (now_ms() - begin > LIMIT_MS || waitpid(pid, &status, WNOHANG) == pid) {
            kill(pid, SIGKILL);
            fprintf(stderr, "start: %s attached no program %s...\n", argv[2], argv[1]);
            return 1;
        }
    }
    double attached = now_ms() - begin;
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    printf("%.3f\n", attached);
    return 0;
}
