/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A known number of page faults, and what getrusage(2) says about them.
 *
 *   faulter MINOR MAJOR KERNEL HELPED [THREADS [FILE [SWAPPED]]]
 *
 * Prints some lines, the last one `ready`, waits for a line on stdin, and then causes in each of its threads
 * MINOR faults on fresh memory, KERNEL ones where read(2) writes to fresh memory, HELPED ones inside the
 * kernel (mlock); and in the first thread MAJOR ones on FILE, whose pages were dropped from the cache. Thread
 * i (from 0) has i * 10 more minor ones. Then `tid=N minor=N major=N` for each thread and `pid=N minor=N
 * major=N wall_ms=N`, and waits for the end of stdin.
 */
#include "load.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define MAX_THREADS 64
#define CHUNK       4096 /* pages that are in use at once */

static unsigned long minor, major, kernel, helped, swapped;
static unsigned char *paged_out;
static const char *file;
static pthread_barrier_t warm, go;

struct thread {
    unsigned number;
    int tid;
    struct rusage before, after;
};

static unsigned long smaller(unsigned long a, unsigned long b)
{
    return a < b ? a : b;
}

static unsigned char *fresh(size_t pages)
{
    void *memory =
        mmap(NULL, pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED || (madvise(memory, pages * 4096, MADV_NOHUGEPAGE) && errno != EINVAL))
        exit(3);
    return memory;
}

static void touch(unsigned char *memory, unsigned long n)
{
    while (n) {
        unsigned long pages = smaller(n, CHUNK);
        for (unsigned long i = 0; i < pages; i++)
            *(volatile unsigned char *)(memory + i * 4096) = 1;
        madvise(memory, CHUNK * 4096, MADV_DONTNEED);
        n -= pages;
    }
}

static void read_into(unsigned char *memory, unsigned long n)
{
    int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);

    while (n) {
        unsigned long pages = smaller(n, CHUNK);
        for (unsigned long i = 0; i < pages; i++)
            if (read(zero, memory + i * 4096, 1) != 1)
                exit(3);
        madvise(memory, CHUNK * 4096, MADV_DONTNEED);
        n -= pages;
    }
    close(zero);
}

static void have_locked(unsigned long n)
{
    unsigned char *memory = fresh(n + 1);

    if (n && mlock(memory, n * 4096))
        exit(3);
    munmap(memory, (n + 1) * 4096);
}

/* Each page separately: no read-ahead, and no neighbour is mapped with it. They stay mapped, so that the file
 * can be identified. */
static void read_file(unsigned long n)
{
    int fd = file && n ? open(file, O_RDONLY | O_CLOEXEC) : -1;

    if (fd < 0)
        return;
    for (unsigned long i = 0; i < n; i++) {
        unsigned char *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, (off_t)(i * 32 * 4096));
        if (page == MAP_FAILED)
            exit(3);
        madvise(page, 4096, MADV_RANDOM);
        (void)*(volatile unsigned char *)page;
    }
    close(fd);
}

static void page_out(unsigned long n)
{
    paged_out = fresh(n + 1);
    for (unsigned long i = 0; i < n; i++)
        paged_out[i * 4096] = (unsigned char)(i | 1);
    if (n)
        madvise(paged_out, n * 4096, 21 /* MADV_PAGEOUT */);
}

static void page_in(unsigned long n)
{
    for (unsigned long i = 0; i < n; i++)
        *(volatile unsigned char *)(paged_out + i * 4096) += 1;
}

static void make_file(unsigned long n)
{
    int fd = file ? open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;

    if (fd < 0)
        return;
    for (unsigned long i = 0; i < n; i++)
        if (pwrite(fd, "x", 1, (off_t)(i * 32 * 4096)) != 1)
            exit(3);
    fsync(fd);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
}

static void work(struct thread *t, unsigned char *memory, bool all)
{
    getrusage(RUSAGE_THREAD, &t->before);
    touch(memory, all ? minor + t->number * 10 : 1);
    read_into(memory, all ? kernel : 1);
    have_locked(all ? helped : 1);
    if (!t->number && all) {
        read_file(major);
        page_in(swapped);
    }
    getrusage(RUSAGE_THREAD, &t->after);
}

static void *run(void *argument)
{
    struct thread *t = argument;
    unsigned char *memory = fresh(CHUNK);

    t->tid = gettid();
    work(t, memory, false);
    pthread_barrier_wait(&warm);
    if (t->number)
        pthread_barrier_wait(&go);
    else
        return memory;
    work(t, memory, true);
    return NULL;
}

static void wait_for_line(void)
{
    char c;

    while (read(STDIN_FILENO, &c, 1) == 1 && c != '\n')
        ;
}

static long faults(const struct rusage *before, const struct rusage *after, bool majors)
{
    return majors ? after->ru_majflt - before->ru_majflt : after->ru_minflt - before->ru_minflt;
}

static void report(const struct thread *t, const struct rusage *before, const struct rusage *after, double ms)
{
    if (t)
        printf("tid=%d minor=%ld major=%ld\n", t->tid, faults(before, after, false),
               faults(before, after, true));
    if (ms > 0)
        printf("pid=%d minor=%ld major=%ld wall_ms=%.3f\n", getpid(), faults(before, after, false),
               faults(before, after, true), ms);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static struct thread threads[MAX_THREADS];
    pthread_t ids[MAX_THREADS];
    struct rusage before, after;
    unsigned n = argc > 5 ? (unsigned)atoi(argv[5]) : 1;

    if (argc < 5 || n < 1 || n > MAX_THREADS)
        return 2;
    minor = strtoul(argv[1], NULL, 10);
    major = strtoul(argv[2], NULL, 10);
    kernel = strtoul(argv[3], NULL, 10);
    helped = strtoul(argv[4], NULL, 10);
    file = argc > 6 ? argv[6] : NULL;
    swapped = argc > 7 ? strtoul(argv[7], NULL, 10) : 0;
    make_file(major);
    page_out(swapped);
    pthread_barrier_init(&warm, NULL, n);
    pthread_barrier_init(&go, NULL, n);
    for (unsigned i = 0; i < n; i++) {
        threads[i].number = i;
        if (i && pthread_create(&ids[i], NULL, run, &threads[i]))
            return 1;
    }
    unsigned char *memory = run(&threads[0]);
    report(&threads[0], &threads[0].before, &threads[0].after,
           0.5); /* everything needed is mapped from now on */
    printf("ready\n");
    fflush(stdout);
    getrusage(RUSAGE_SELF, &before);
    wait_for_line();
    uint64_t begin = now_ns(CLOCK_MONOTONIC);
    pthread_barrier_wait(&go);
    work(&threads[0], memory, true);
    uint64_t end = now_ns(CLOCK_MONOTONIC);
    for (unsigned i = 1; i < n; i++)
        pthread_join(ids[i], NULL);
    getrusage(RUSAGE_SELF, &after);
    for (unsigned i = 0; i < n; i++)
        report(&threads[i], &threads[i].before, &threads[i].after, 0);
    report(NULL, &before, &after, (double)(end - begin) / 1e6);
    wait_for_line();
    return 0;
}
