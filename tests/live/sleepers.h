/* SPDX-License-Identifier: GPL-2.0-only */
/* Loads that sleep for known times: on locks of all kinds, on a disk, on memory, or idle. */
#ifndef HOG_TESTS_SLEEPERS_H
#define HOG_TESTS_SLEEPERS_H

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"

/* Shared by a load and its observer. */
static struct shared {
    atomic_uint go, ready, over;
    int64_t slept;  /* by the load's own clocks */
    int64_t unsure; /* part of that: possibly too long, for threads that hand over to each other */
    int64_t
        stolen; /* part of that: the host of a virtual machine had the CPUs, and completes I/O meanwhile */
    uint32_t failed; /* errno of what failed */
    uint32_t faults;
} * shared;

static void wait_ms(int64_t ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};

    while (nanosleep(&time, &time))
        ;
}

/* ---- loads: each in a process of its own, between begin() and end() ---- */

static int64_t begun;

static int64_t run_delay(void)
{
    char text[128] = "";
    unsigned long long ran = 0, waited = 0;
    int fd = open("/proc/thread-self/schedstat", O_RDONLY);

    if (fd < 0 || read(fd, text, sizeof text - 1) <= 0 || sscanf(text, "%llu %llu", &ran, &waited) != 2)
        shared->failed = ENOENT;
    close(fd);
    return (int64_t)waited;
}

/* Time of this thread in which it neither ran nor waited for a CPU. All three clocks must be read at one
 * moment: not if it was off the CPU in between. */
static int64_t sleep_clock(void)
{
    for (int tries = 0;; tries++) {
        int64_t wall = (int64_t)clock_ns(CLOCK_MONOTONIC);
        int64_t busy = (int64_t)clock_ns(CLOCK_THREAD_CPUTIME_ID) + run_delay();
        if ((int64_t)clock_ns(CLOCK_MONOTONIC) - wall < 500000 || tries == 50)
            return wall - busy;
    }
}

/* As glibc does in each thread. */
static void be_robust(void)
{
    static struct robust_list_head list = {.list = {&list.list}};

    if (syscall(SYS_set_robust_list, &list, sizeof list))
        shared->failed = (uint32_t)errno;
}

/* Of all CPUs, ns. No clock of a thread includes it, though the thread was on a CPU. */
static int64_t stolen(void)
{
    unsigned long long ticks = 0;
    FILE *stat = fopen("/proc/stat", "re");

    if (!stat || fscanf(stat, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &ticks) != 1)
        shared->failed = ENOENT;
    if (stat)
        fclose(stat);
    return (int64_t)ticks * 10000000;
}

static void begin(void)
{
    shared->ready = 1;
    while (!shared->go)
        wait_ms(1);
    shared->stolen = -stolen();
    begun = sleep_clock();
}

static void end(void)
{
    int64_t now = stolen();

    shared->slept += sleep_clock() - begun;
    shared->stolen += now + (now ? 10000000 : 0); /* a tick more may not be reported yet */
}

static long futex(atomic_uint *word, int how, uint32_t value)
{
    return syscall(SYS_futex, word, how, value, NULL, NULL, FUTEX_BITSET_MATCH_ANY);
}

static atomic_uint word; /* not on a stack */

static void *wake_later(void *after)
{
    wait_ms((intptr_t)after);
    word = ~word;
    futex(&word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, INT32_MAX);
    return NULL;
}

static void sleep_in_futex(atomic_uint *at, int how, uint32_t value, intptr_t ms)
{
    pthread_t other;

    *at = value;
    begin();
    if (at == &word)
        pthread_create(&other, NULL, wake_later, (void *)ms);
    while (*at == value)
        if (futex(at, how | FUTEX_PRIVATE_FLAG, value) && errno != EAGAIN && errno != EINTR)
            shared->failed = (uint32_t)errno;
    end();
    pthread_join(other, NULL);
}

static void like_glibc(void)
{
    be_robust();
    sleep_in_futex(&word, FUTEX_WAIT, 2, 300);
}

static void like_robust(void)
{
    sleep_in_futex(&word, FUTEX_WAIT, FUTEX_WAITERS | 4711, 300);
}

static void like_rust(void)
{
    be_robust();
    sleep_in_futex(&word, FUTEX_WAIT_BITSET, 2, 300);
}

static void like_rust_signals(void)
{
    be_robust();
    sleep_in_futex(&word, FUTEX_WAIT_BITSET, 2, 1300);
}

static void like_glibc_condition(void)
{
    sleep_in_futex(&word, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 2, 300);
}

static void like_musl_condition(void)
{
    sleep_in_futex(&word, FUTEX_WAIT, 2, 300);
}

static void like_parking(void)
{
    sleep_in_futex(&word, FUTEX_WAIT_BITSET, UINT32_MAX, 300);
}

static void like_go_idle(void)
{
    sleep_in_futex(&word, FUTEX_WAIT, 0, 300);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static atomic_bool held, signalled;

static void *hold(void *ms)
{
    pthread_mutex_lock(&mutex);
    held = true;
    while (!shared->go)
        wait_ms(1);
    wait_ms((intptr_t)ms);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void *hold_pi(void *unused)
{
    (void)unused;
    futex(&word, FUTEX_LOCK_PI | FUTEX_PRIVATE_FLAG, 0);
    held = true;
    while (!shared->go)
        wait_ms(1);
    wait_ms(300);
    futex(&word, FUTEX_UNLOCK_PI | FUTEX_PRIVATE_FLAG, 0);
    return NULL;
}

static void lock_pi(void)
{
    pthread_t other;

    pthread_create(&other, NULL, hold_pi, NULL);
    while (!held)
        wait_ms(1);
    begin();
    if (futex(&word, FUTEX_LOCK_PI | FUTEX_PRIVATE_FLAG, 0))
        shared->failed = (uint32_t)errno;
    futex(&word, FUTEX_UNLOCK_PI | FUTEX_PRIVATE_FLAG, 0);
    end();
    pthread_join(other, NULL);
}

static void locked_for(intptr_t ms)
{
    pthread_t other;

    pthread_create(&other, NULL, hold, (void *)ms);
    while (!held)
        wait_ms(1);
    begin();
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    end();
    pthread_join(other, NULL);
}

static void lock_300(void)
{
    locked_for(300);
}

static void lock_2000(void)
{
    locked_for(2000);
}

/* The lock is waited for before the observer starts. */
static void lock_before(void)
{
    pthread_t other;

    pthread_create(&other, NULL, hold, (void *)500);
    while (!held)
        wait_ms(1);
    shared->ready = 1;
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    pthread_join(other, NULL);
}

static void *signal_later(void *unused)
{
    (void)unused;
    wait_ms(300);
    pthread_mutex_lock(&mutex);
    signalled = true;
    pthread_cond_broadcast(&condition);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void *wait_for_work(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&mutex);
    while (!signalled)
        pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void idle_workers(void)
{
    pthread_t workers[4], other;

    begin();
    for (int i = 0; i < 4; i++)
        pthread_create(&workers[i], NULL, wait_for_work, NULL);
    pthread_create(&other, NULL, signal_later, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(workers[i], NULL);
    pthread_join(other, NULL);
    wait_ms(100);
    end();
}

/* How much of its time is in sleeps of 0.9 ms or more. */
#define ROUNDS 20000u
static int64_t hand_over(unsigned mine)
{
    int64_t unsure = 0;

    for (unsigned round = 0; round < ROUNDS; round++) {
        int64_t before = (int64_t)clock_ns(CLOCK_MONOTONIC);
        unsigned now;
        while ((now = word) % 2 != mine)
            futex(&word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, now);
        int64_t took = (int64_t)clock_ns(CLOCK_MONOTONIC) - before;
        unsure += took >= 900000 ? took : 0;
        word = now + 1;
        futex(&word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
    }
    return unsure;
}

struct partner {
    int64_t slept, unsure;
};

static void *other_side(void *of)
{
    struct partner *collector = of;
    int64_t start = sleep_clock();

    collector->unsure = hand_over(1);
    collector->slept = sleep_clock() - start;
    return NULL;
}

static void ping_pong(void)
{
    pthread_t other;
    struct partner collector = {0};

    begin();
    pthread_create(&other, NULL, other_side, &collector);
    shared->unsure = hand_over(0);
    end();
    pthread_join(other, NULL);
    shared->slept += collector.slept;
    shared->unsure += collector.unsure;
}

/* ---- the same with a disk ---- */

static char file_name[256];

#define DIRECTORY "/var/tmp"
static int own_file(const char *what, int flags, size_t size)
{
    static char block[1 << 20] = "x";

    snprintf(file_name, sizeof file_name, DIRECTORY "/hog.stalls.%s.%d", what, (int)getpid());
    int fd = open(file_name, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
    for (size_t done = 0; fd >= 0 && done < size; done += sizeof block)
        if (write(fd, block, sizeof block) != sizeof block)
            shared->failed = ENOSPC;
    if (fd >= 0) {
        fsync(fd);
        close(fd);
        fd = open(file_name, O_RDWR | O_CLOEXEC | flags);
        unlink(file_name);
    }
    if (fd < 0)
        shared->failed = (uint32_t)errno;
    return fd;
}

static void direct_reads(void)
{
    int fd = own_file("direct", O_DIRECT, 64 << 20);
    void *buffer = aligned_alloc(4096, 4096);

    begin();
    for (unsigned i = 0; i < 3000 && !shared->failed; i++)
        if (pread(fd, buffer, 4096, (off_t)(i * 7919u % 16384) * 4096) != 4096)
            shared->failed = EIO;
    end();
}

static void synced_writes(void)
{
    int fd = own_file("synced", 0, 1 << 20);
    char text[4096] = "y";

    begin();
    for (unsigned i = 0; i < 100 && !shared->failed; i++)
        if (pwrite(fd, text, sizeof text, (off_t)i * 8192) != sizeof text || fsync(fd))
            shared->failed = EIO;
    end();
}

static void put(const char *dir, const char *file, const char *text)
{
    char path[256];

    snprintf(path, sizeof path, "%s/%s", dir, file);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, text, strlen(text)) < 0)
        shared->failed = (uint32_t)errno;
    close(fd);
}

#define MEMORY_GROUPS "/sys/fs/cgroup/memory"
#define CGROUP        MEMORY_GROUPS "/hog_stalls_test"

/* A file three times as large as the group's limit. */
static void thrashing(void)
{
    const size_t size = 96 << 20;
    char pid[16];
    struct rusage before, after;

    mkdir(CGROUP, 0755);
    put(CGROUP, "memory.limit_in_bytes", "33554432");
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    int fd = own_file("mapped", 0, size);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    put(CGROUP, "cgroup.procs", pid);
    const volatile char *map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED) {
        shared->failed = ENOMEM;
        return;
    }
    madvise((void *)map, size, MADV_RANDOM);
    begin();
    getrusage(RUSAGE_SELF, &before);
    for (unsigned i = 0; i < 6000; i++)
        (void)map[(size_t)(i * 7919u % (size >> 12)) << 12];
    getrusage(RUSAGE_SELF, &after);
    end();
    shared->faults = (uint32_t)(after.ru_majflt - before.ru_majflt);
}

#define BLOCK_GROUPS "/sys/fs/cgroup/blkio"
#define SLOW_GROUP   BLOCK_GROUPS "/hog_stalls_test"

/* The disk with the files, "254:0". */
static void disk_number(char *to, size_t size)
{
    char path[128];
    struct stat st;

    if (stat(DIRECTORY, &st))
        shared->failed = (uint32_t)errno;
    snprintf(to, size, "%u:%u", major(st.st_dev), minor(st.st_dev));
    snprintf(path, sizeof path, "/sys/dev/block/%s/partition", to);
    if (access(path, F_OK))
        return;
    snprintf(path, sizeof path, "/sys/dev/block/%s/../dev", to);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, to, size - 1);
    if (n <= 0)
        shared->failed = ENODEV;
    to[n > 0 ? n - 1 : 0] = 0;
    close(fd);
}

/* One read, of 2 s, as from a disk that hangs. */
static void slow_read(void)
{
    const size_t size = 400000 / 4096 * 4096;
    char number[32], limit[64], pid[16];
    int fd = own_file("slow", O_DIRECT, 1 << 20);
    void *buffer = aligned_alloc(4096, size);

    mkdir(SLOW_GROUP, 0755);
    disk_number(number, sizeof number);
    snprintf(limit, sizeof limit, "%s 200000", number);
    put(SLOW_GROUP, "blkio.throttle.read_bps_device", limit);
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    put(SLOW_GROUP, "cgroup.procs", pid);
    begin();
    if (pread(fd, buffer, size, 0) != (ssize_t)size)
        shared->failed = EIO;
    end();
}

#endif
