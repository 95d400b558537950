/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Short-lived processes, one after the other, as many as there is time for.
 *
 *   storm SECONDS [BURN_US [PARALLEL]]
 *
 * At the end, or at SIGTERM: `processes=N cpu_ms=N`, the time of all children.
 */
#include "load.h"
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t ending;

static void end(int signal)
{
    ending = 1;
}

static bool start_one(uint64_t ns)
{
    pid_t pid = fork();

    if (pid == 0) {
        burn(ns);
        _exit(0);
    }
    return pid > 0;
}

int main(int argc, char **argv)
{
    struct rusage used;
    unsigned long processes = 0;
    int parallel = argc > 3 ? atoi(argv[3]) : 4, running = 0;

    if (argc < 2 || parallel < 1)
        return 2;
    signal(SIGTERM, end);
    uint64_t due = now_ns(CLOCK_MONOTONIC) + (uint64_t)(atof(argv[1]) * 1e9);
    uint64_t ns = argc > 2 ? strtoull(argv[2], NULL, 10) * 1000 : 0;

    while (!ending && now_ns(CLOCK_MONOTONIC) < due) {
        while (running < parallel && start_one(ns)) {
            running++;
            processes++;
        }
        if (wait(NULL) > 0)
            running--;
    }
    while (wait(NULL) > 0)
        ;
    getrusage(RUSAGE_CHILDREN, &used);
    double ms = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e3 +
                (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e3;
    printf("processes=%lu cpu_ms=%.3f\n", processes, ms);
    return 0;
}
