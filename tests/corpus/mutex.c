/* SPDX-License-Identifier: GPL-2.0-only */
/* Four threads that ask for a mutex of the C library, and one, "holder", that has it nearly all the time. It
 * prints that thread's id. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *asks(void *unused)
{
    (void)unused;
    for (;;) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
        usleep(1000);
    }
    return NULL;
}

static void *holds(void *unused)
{
    (void)unused;
    prctl(PR_SET_NAME, "holder");
    printf("%d\n", gettid());
    fflush(stdout);
    for (;;) {
        pthread_mutex_lock(&mutex);
        usleep(200000);
        pthread_mutex_unlock(&mutex);
        usleep(100);
    }
    return NULL;
}

int main(void)
{
    pthread_t thread;

    for (int i = 0; i < 4; i++)
        pthread_create(&thread, NULL, asks, NULL);
    pthread_create(&thread, NULL, holds, NULL);
    pause();
    return 0;
}
