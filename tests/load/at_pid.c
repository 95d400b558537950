/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs a command with a chosen PID, and returns its status.
 *
 *   at_pid PID COMMAND...
 *
 * Status 125 if the kernel does not grant that (clone3 with set_tid, 5.5; CAP_CHECKPOINT_RESTORE).
 */
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    pid_t pid = argc > 2 ? (pid_t)strtol(argv[1], NULL, 10) : 0;
    struct clone_args args = {
        .exit_signal = SIGCHLD, .set_tid = (uint64_t)(uintptr_t)&pid, .set_tid_size = 1};
    int status;

    if (pid <= 0)
        return 2;
    pid_t child = (pid_t)syscall(SYS_clone3, &args, sizeof args);
    if (child == 0) {
        execvp(argv[2], argv + 2);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) {
        perror("at_pid");
        return 125;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
