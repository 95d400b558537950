/* SPDX-License-Identifier: GPL-2.0-only */
/* A process that obeys commands, and reports what it did by its own account. */
#ifndef HOG_TESTS_LIVE_WORKER_H
#define HOG_TESTS_LIVE_WORKER_H

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "host/process.h"
#include "tests/load/load.h"
#include "tests/unit/tap.h"

#define PAGE     4096
#define KEEP_MIB 64
#define BLOCK    (1 << 20)
#define BURN_NS  600000000

struct told {
    struct rusage usage, of_thread;
    uint64_t ran; /* ns, from the CPU clock of the burning thread */
    int tid;
};

struct worker {
    pid_t pid;
    int to, from;
};

static unsigned char *kept;
static pthread_barrier_t threads_begin, threads_end;
static struct told of_thread_told;

static void touch(size_t pages)
{
    unsigned char *memory =
        mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        _exit(3);
    madvise(memory, pages * PAGE, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < pages; i++)
        *(volatile unsigned char *)(memory + i * PAGE) = 1;
    munmap(memory, pages * PAGE);
}

static void *touch_in_thread(void *pages)
{
    touch((size_t)pages);
    return NULL;
}

static void in_thread(void *(*run)(void *), size_t argument)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, run, (void *)argument) || pthread_join(thread, NULL))
        _exit(3);
}

/* Stays alive, and touches its pages again at each command 'l'. */
static void *live_on(void *pages)
{
    for (;;) {
        pthread_barrier_wait(&threads_begin);
        touch((size_t)pages);
        of_thread_told.tid = gettid();
        getrusage(RUSAGE_THREAD, &of_thread_told.of_thread);
        pthread_barrier_wait(&threads_end);
    }
    return NULL;
}

/* And stays alive: the counts of a thread that is gone cannot be seen. */
static void *burn_in_thread(void *ns)
{
    burn((size_t)ns);
    of_thread_told.ran = now_ns(CLOCK_THREAD_CPUTIME_ID);
    pthread_barrier_wait(&threads_end);
    pause();
    return NULL;
}

static void keep(bool memory)
{
    size_t bytes = (size_t)KEEP_MIB << 20;

    if (!memory) {
        munmap(kept, bytes);
        return;
    }
    kept = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (kept == MAP_FAILED)
        _exit(3);
}

/* Through the page cache and to the disk, if there is one, and back. */
static void use_file(void)
{
    static unsigned char block[BLOCK];
    char path[] = "/tmp/tasks.XXXXXX";
    int fd = mkstemp(path);

    unlink(path);
    for (int i = 0; i < 8; i++)
        if (write(fd, block, sizeof block) != sizeof block)
            _exit(3);
    fsync(fd);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    for (int i = 0; i < 8; i++)
        if (pread(fd, block, sizeof block, (off_t)i * BLOCK) != sizeof block)
            _exit(3);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    unsigned char *mapped = mmap(NULL, BLOCK, PROT_READ, MAP_SHARED, fd, 0);
    for (size_t i = 0; mapped != MAP_FAILED && i < BLOCK; i += PAGE)
        (void)*(volatile unsigned char *)(mapped + i);
    munmap(mapped, BLOCK);
    close(fd);
}

static void work(char command)
{
    pthread_t thread;

    switch (command) {
    case 'f':
        touch(5000);
        break;
    case 't':
        in_thread(touch_in_thread, 3000);
        in_thread(touch_in_thread, 2000);
        break;
    case 'L':
        if (pthread_create(&thread, NULL, live_on, (void *)700))
            _exit(3);
        break;
    case 'l':
        pthread_barrier_wait(&threads_begin);
        touch(300);
        pthread_barrier_wait(&threads_end);
        break;
    case 'm':
    case 'M':
        keep(command == 'M');
        break;
    case 'b':
        if (pthread_create(&thread, NULL, burn_in_thread, (void *)(size_t)BURN_NS))
            _exit(3);
        rest(BURN_NS / 4);
        burn(BURN_NS / 4);
        pthread_barrier_wait(&threads_end);
        break;
    case 'i':
        use_file();
        break;
    }
}

static void serve(int from, int to)
{
    char command;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pthread_barrier_init(&threads_begin, NULL, 2);
    pthread_barrier_init(&threads_end, NULL, 2);
    while (read(from, &command, 1) == 1) {
        struct told told;
        work(command);
        told = of_thread_told;
        getrusage(RUSAGE_SELF, &told.usage);
        if (write(to, &told, sizeof told) != sizeof told)
            break;
    }
    _exit(0);
}

TAP_UNUSED static struct worker hire(void)
{
    struct worker worker = {0};
    int to[2], from[2];

    if (pipe(to) || pipe(from))
        exit(1);
    worker.pid = fork();
    if (!worker.pid)
        serve(to[0], from[1]);
    close(to[0]);
    close(from[1]);
    worker.to = to[1];
    worker.from = from[0];
    return worker;
}

TAP_UNUSED static void dismiss(const struct worker *worker)
{
    kill(worker->pid, SIGKILL);
    close(worker->to);
    close(worker->from);
    waitpid(worker->pid, NULL, 0);
}

/* Waits until it has done that and sleeps again. */
TAP_UNUSED static struct told message(const struct worker *worker, char command)
{
    struct told told = {0};
    struct process process = {0};

    if (write(worker->to, &command, 1) != 1 || read(worker->from, &told, sizeof told) != sizeof told)
        check(false, "the load does its work");
    for (int i = 0; i < 1000 && process.state != 'S'; i++) {
        rest(1000000);
        process_read((uint32_t)worker->pid, 0, &process);
    }
    return told;
}

#endif
