// SPDX-License-Identifier: GPL-2.0-only
/* Calls a function that does next to nothing N times, and prints the CPU time of one call: `ns=123.4`.
 *
 *   calling getppid|atoi N
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
    int (*volatile function)(const char *) = atoi;
    long n = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
    volatile long sum = 0;

    if (n <= 0 || (strcmp(argv[1], "getppid") != 0 && strcmp(argv[1], "atoi") != 0)) {
        fputs("usage: calling getppid|atoi N\n", stderr);
        return 2;
    }
    double begin = cpu_ns();
    if (!strcmp(argv[1], "atoi"))
        for (long i = 0; i < n; i++)
            sum += function("7");
    else
        for (long i = 0; i < n; i++)
            sum += syscall(SYS_getppid);
    printf("ns=%.1f\n", (cpu_ns() - begin) / (double)n);
    return 0;
}
