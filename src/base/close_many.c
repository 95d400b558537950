/* SPDX-License-Identifier: GPL-2.0-only */
#include "base/close_many.h"
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* The workers have a copy of the memory and share the descriptors, as threads would. */
void close_many(const int *fds, size_t n, size_t workers)
{
    pid_t pids[CLOSE_WORKERS];
    size_t started = 0;

    workers = workers < CLOSE_WORKERS ? workers : CLOSE_WORKERS;
    workers = workers < n ? workers : n;
    for (pid_t pid; started < workers; pids[started++] = pid) {
        pid = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
        if (pid < 0)
            break;
        for (size_t i = started; !pid && i < n; i += workers)
            close(fds[i]);
        if (!pid)
            _exit(0);
    }
    for (size_t i = 0; i < n; i++)
        if (!started || i % workers >= started)
            close(fds[i]);
    for (size_t i = 0; i < started; i++)
        while (waitpid(pids[i], NULL, 0) < 0 && errno == EINTR)
            ;
}
