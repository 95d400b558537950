/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Processes that change their identity. Each burns MS before the change and MS after it.
 *
 *   lives exec MS      calls exec: the process is called `before`, then `after`
 *   lives thread MS    the same from a thread that is not the first: the kernel gives it the first one's id
 *   lives orphan MS    the first thread ends, another one, called `other`, lives on
 *
 * At the end: `pid=N cpu_ms=N`.
 */
#include "load.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static char **arguments;
static uint64_t ns;

static int finish(void)
{
    burn(ns);
    printf("pid=%d cpu_ms=%.3f\n", getpid(), (double)now_ns(CLOCK_PROCESS_CPUTIME_ID) / 1e6);
    fflush(stdout);
    return 0;
}

static void *call_exec(void *unused)
{
    burn(ns);
    execl("/proc/self/exe", "lives", "after", arguments[2], (char *)NULL);
    return NULL;
}

static void *outlive(void *unused)
{
    prctl(PR_SET_NAME, "other");
    rest(5000000);
    finish();
    exit(0);
}

int main(int argc, char **argv)
{
    pthread_t thread;

    if (argc < 3)
        return 2;
    arguments = argv;
    ns = strtoull(argv[2], NULL, 10) * 1000000;
    prctl(PR_SET_NAME, strcmp(argv[1], "after") ? "before" : "after");
    if (!strcmp(argv[1], "after"))
        return finish();
    if (!strcmp(argv[1], "exec"))
        call_exec(NULL);
    if (!strcmp(argv[1], "thread") && !pthread_create(&thread, NULL, call_exec, NULL))
        pthread_join(thread, NULL);
    burn(ns);
    if (!strcmp(argv[1], "orphan") && !pthread_create(&thread, NULL, outlive, NULL))
        syscall(SYS_exit, 0);
    return 1;
}
