/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs a command and prints what the kernel counted for it: `pid=N minor=N major=N`.
 *
 *   counted COMMAND...
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct rusage used;
    int status;

    if (argc < 2)
        return 2;
    pid_t pid = fork();
    if (!pid) {
        execvp(argv[1], argv + 1);
        _exit(127);
    }
    if (pid < 0 || wait4(pid, &status, 0, &used) != pid)
        return 1;
    printf("pid=%d minor=%ld major=%ld\n", pid, used.ru_minflt, used.ru_majflt);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
