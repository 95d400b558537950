/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cost of reads from the page cache:
 *
 *   rereads FILE JOBS N        JOBS processes, N reads of 4 KiB each, at random places
 *
 * Ends with a line like `ns=412.5 per_s=4561022`: CPU time per read, and reads per second of all processes.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BYTES 4096

static double wall_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int job(const char *file, uint64_t state, long n)
{
    static char buffer[BYTES];
    struct stat stat;
    int fd = open(file, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || fstat(fd, &stat) || stat.st_size < BYTES)
        return 1;
    uint64_t pages = (uint64_t)stat.st_size / BYTES;
    for (long i = 0; i < n; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        if (pread(fd, buffer, BYTES, (off_t)((state >> 33) % pages * BYTES)) != BYTES)
            return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    long jobs = atol(argv[2]), n = atol(argv[3]);
    double begin = wall_ns();
    int bad = jobs < 1 || n < 1, status;
    struct rusage use;

    for (long i = 0; i < jobs; i++)
        if (!fork())
            _exit(job(argv[1], (uint64_t)i + 1, n));
    while (wait(&status) > 0)
        bad |= status;
    double took = wall_ns() - begin;
    if (bad || getrusage(RUSAGE_CHILDREN, &use))
        return 1;
    double cpu = (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1e9 +
                 (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1e3;
    printf("ns=%.1f per_s=%.0f\n", cpu / (double)(jobs * n), (double)(jobs * n) / took * 1e9);
    return 0;
}
