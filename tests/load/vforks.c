/* SPDX-License-Identifier: GPL-2.0-only */
/* vforks N: N threads in D state, each until its child of vfork(2) ends, which it does when this process
 * does. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

static int sleeps(void *unused)
{
    (void)unused;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;)
        pause();
    return 0;
}

static void *parent(void *unused)
{
    char *stack = malloc(16384);

    (void)unused;
    if (stack)
        clone(sleeps, stack + 16384, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_attr_t small;
    pthread_t thread;

    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    for (long i = argc > 1 ? atol(argv[1]) : 0; i > 0; i--)
        if (pthread_create(&thread, &small, parent, NULL))
            return 1;
    pause();
    return 0;
}
