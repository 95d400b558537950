/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lives that consist of a beginning and an end: N times fork, exec and exit, one after the other.
 *
 *   spawn N      prints `spawn_us=N cpu_us=N`, the mean duration and CPU time of one
 */
#include "load.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double cpu_us(int who)
{
    struct rusage usage;

    getrusage(who, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

int main(int argc, char **argv)
{
    unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
    uint64_t begin = now_ns(CLOCK_MONOTONIC);

    for (unsigned i = 0; i < n; i++) {
        pid_t pid = fork();
        if (!pid) {
            execl("/proc/self/exe", argv[0], "0", (char *)NULL);
            _exit(1);
        }
        int status;
        if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
            return 1;
    }
    if (n)
        printf("spawn_us=%.2f cpu_us=%.2f\n", (double)(now_ns(CLOCK_MONOTONIC) - begin) / 1e3 / n,
               (cpu_us(RUSAGE_SELF) + cpu_us(RUSAGE_CHILDREN)) / n);
    return 0;
}
