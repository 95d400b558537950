/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Moves itself from CPU to CPU all the time: each move is made by the kernel thread migration/N of the CPU
 * that it leaves, which has precedence over all others.
 *
 *   mover SECONDS      until then, or until SIGTERM. Status 3: there is only one CPU.
 */
#include "load.h"
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

static volatile sig_atomic_t ending;

static void end(int signal)
{
    ending = 1;
}

/* The first two CPUs that it may use. */
static bool two_cpus(cpu_set_t sets[2])
{
    cpu_set_t all;
    int n = 0;

    if (sched_getaffinity(0, sizeof all, &all))
        return false;
    for (int cpu = 0; cpu < CPU_SETSIZE && n < 2; cpu++) {
        if (!CPU_ISSET(cpu, &all))
            continue;
        CPU_ZERO(&sets[n]);
        CPU_SET(cpu, &sets[n++]);
    }
    return n == 2;
}

int main(int argc, char **argv)
{
    cpu_set_t sets[2];

    if (argc != 2)
        return 2;
    if (!two_cpus(sets))
        return 3;
    signal(SIGTERM, end);
    uint64_t due = now_ns(CLOCK_MONOTONIC) + (uint64_t)(atof(argv[1]) * 1e9);
    for (unsigned i = 0; !ending && now_ns(CLOCK_MONOTONIC) < due; i++)
        if (sched_setaffinity(0, sizeof *sets, &sets[i & 1]))
            return 1;
    return 0;
}
