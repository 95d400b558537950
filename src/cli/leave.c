// SPDX-License-Identifier: GPL-2.0-only
#include "cli/leave.h"
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CLOSERS 16
#define GAP     64 /* that many numbers in a row without a descriptor: no more follow */

static void close_every(int step, int fd)
{
    for (int missing = 0; missing < GAP; fd += step)
        missing = close(fd) && errno == EBADF ? missing + 1 : 0;
}

/* The closers have a copy of the memory and the same descriptors. What they wait for is the same for all. */
void leave_kernel(void)
{
    const struct sched_param lowest = {.sched_priority = 1};
    pid_t closers[CLOSERS];

    /* So many processes would wait long for a busy host's CPUs. */
    syscall(SYS_sched_setscheduler, 0, SCHED_FIFO, &lowest);
    for (int i = 0; i < CLOSERS; i++) {
        closers[i] = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
        if (closers[i])
            continue;
        close_every(CLOSERS, STDERR_FILENO + 1 + i);
        _exit(0);
    }
    for (int i = 0; i < CLOSERS; i++)
        while (closers[i] > 0 && waitpid(closers[i], NULL, 0) < 0 && errno == EINTR)
            ;
}
