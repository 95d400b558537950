/* SPDX-License-Identifier: GPL-2.0-only */
/* sleeps SECONDS DIR: four threads, each of which sleeps in one system call again and again: nanosleep, read
 * (of a pipe), futex (of a mutex that another thread holds), fsync. Says "CALL<tab>NS" for each: how long it
 * slept, which is the time that passed but for what /proc/thread-self/schedstat says that it ran, or waited
 * for a CPU. */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double seconds;
static const char *directory;
static int pipe_ends[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int stop;

static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void pause_for(long ns)
{
    nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

/* Not asleep: run, and waiting for a CPU. */
static uint64_t awake(void)
{
    unsigned long long ran = 0, waited = 0;
    FILE *f = fopen("/proc/thread-self/schedstat", "r");

    if (!f || fscanf(f, "%llu %llu", &ran, &waited) != 2)
        exit(1);
    fclose(f);
    return ran + waited;
}

static void sleep_once(const char *call, int file)
{
    char c;

    if (!strcmp(call, "nanosleep")) {
        pause_for(7000000);
    } else if (!strcmp(call, "read")) {
        if (read(pipe_ends[0], &c, 1) != 1)
            exit(1);
    } else if (!strcmp(call, "futex")) {
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
    } else {
        if (pwrite(file, "x", 1, 0) != 1)
            exit(1);
        fsync(file);
    }
}

static void *sleeper(void *what)
{
    const char *call = what;
    char path[4096];

    snprintf(path, sizeof path, "%s/sleeps.%s", directory, call);
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    uint64_t begin = now(), before = awake(), end = begin + (uint64_t)(seconds * 1e9);
    while (now() < end)
        sleep_once(call, file);
    uint64_t asleep = now() - begin - (awake() - before);
    close(file);
    unlink(path);
    printf("%s\t%llu\n", call, (unsigned long long)asleep);
    return NULL;
}

/* Writes to the pipe, and holds the lock. */
static void *helper(void *none)
{
    while (!stop) {
        pthread_mutex_lock(&lock);
        pause_for(3000000);
        pthread_mutex_unlock(&lock);
        pause_for(200000);
        if (write(pipe_ends[1], "x", 1) != 1)
            exit(1);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static const char *const calls[] = {"nanosleep", "read", "futex", "fsync"};
    pthread_t threads[4], other;

    if (argc != 3 || pipe(pipe_ends))
        return 2;
    seconds = atof(argv[1]);
    directory = argv[2];
    pthread_create(&other, NULL, helper, NULL);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, sleeper, (void *)calls[i]);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    stop = 1;
    pthread_join(other, NULL);
    return 0;
}
