/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two processes, one after the other, with the same PID: `first` and `second`.
 *
 *   reuse MS_FIRST MS_SECOND
 *
 * Prints `pid=N first_ms=N second_ms=N`: the CPU time of each. Status 3 if the kernel does not allow choosing
 * a PID (clone3 with set_tid, 5.5; CAP_CHECKPOINT_RESTORE), 4 if another process took it.
 */
#include "load.h"
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t start(pid_t pid, const char *name, uint64_t ns)
{
    uint64_t tid = (uint64_t)pid;
    struct clone_args args = {
        .exit_signal = SIGCHLD, .set_tid = (uint64_t)(uintptr_t)&pid, .set_tid_size = 1};

    if (!tid)
        args.set_tid = args.set_tid_size = 0;
    pid_t child = (pid_t)syscall(SYS_clone3, &args, sizeof args);
    if (child == 0) {
        prctl(PR_SET_NAME, name);
        burn(ns);
        _exit(0);
    }
    return child;
}

static double used_ms(pid_t child)
{
    struct rusage used;

    if (wait4(child, NULL, 0, &used) != child)
        return -1;
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e3 +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e3;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    pid_t pid = start(0, "first", strtoull(argv[1], NULL, 10) * 1000000);
    if (pid < 0)
        return 3;
    double first = used_ms(pid);
    pid_t again = start(pid, "second", strtoull(argv[2], NULL, 10) * 1000000);
    if (again < 0)
        return errno == EEXIST ? 4 : 3;
    double second = used_ms(again);
    printf("pid=%d first_ms=%.3f second_ms=%.3f\n", pid, first, second);
    return again == pid ? 0 : 1;
}
