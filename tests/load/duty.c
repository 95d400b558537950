/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads that burn and sleep alternately, and print what the CPU clocks say at the end.
 *
 *   duty SECONDS [ON_US OFF_US [THREADS]]      OFF_US 0 (the default) never sleeps
 *
 * At the end, or at SIGTERM: `tid=N cpu_ms=N` for each thread and then `pid=N cpu_ms=N`.
 */
#include "load.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_THREADS 64

static atomic_bool ending;
static uint64_t due, on_ns, off_ns;

static void end(int signal)
{
    atomic_store(&ending, true);
}

static void *run(void *ns)
{
    while (!atomic_load(&ending) && now_ns(CLOCK_MONOTONIC) < due) {
        /* In parts: the end must be noticed. */
        burn(off_ns ? on_ns : 1000000);
        if (off_ns)
            rest(off_ns);
    }
    *(uint64_t *)ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
    printf("tid=%d cpu_ms=%.3f\n", gettid(), (double)*(uint64_t *)ns / 1e6);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[MAX_THREADS];
    uint64_t ns[MAX_THREADS];
    int n = argc > 4 ? atoi(argv[4]) : 1;

    if (argc < 2 || n < 1 || n > MAX_THREADS)
        return 2;
    signal(SIGTERM, end);
    due = now_ns(CLOCK_MONOTONIC) + (uint64_t)(atof(argv[1]) * 1e9);
    on_ns = argc > 2 ? strtoull(argv[2], NULL, 10) * 1000 : 0;
    off_ns = argc > 3 ? strtoull(argv[3], NULL, 10) * 1000 : 0;
    for (int i = 1; i < n; i++)
        if (pthread_create(&threads[i], NULL, run, &ns[i]))
            return 1;
    run(&ns[0]);
    for (int i = 1; i < n; i++)
        pthread_join(threads[i], NULL);
    printf("pid=%d cpu_ms=%.3f\n", getpid(), (double)now_ns(CLOCK_PROCESS_CPUTIME_ID) / 1e6);
    return 0;
}
