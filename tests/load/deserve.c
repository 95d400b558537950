/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loads in trouble, and similar ones that are fine.
 *
 *   deserve NAME MODE ARGUMENT...        NAME becomes the process's name
 *
 *   burn ON_US OFF_US [THREADS]          CPU time and sleep alternately; OFF_US 0 never sleeps
 *   poll MS ON_US                        waits for input that never comes, with a timeout, and uses some CPU
 *                                        time each time
 *   read FILE KIB OFF_US                 a block at a random place of the file, from the disk, one at a time
 *   sync FILE KIB OFF_US                 the same to the disk
 *   map FILE KIB OFF_US                  a mapped file, read at random places
 *   anon KIB OFF_US                      memory, written at random places
 *   fill KIB KIB_S MOST_KIB              memory: KIB at once, then at that rate until it is MOST_KIB
 *   lock THREADS ON_US HELD_US OFF_US    a mutex for all: with it, CPU time and sleep; without it, sleep
 *   pingpong ON_US                       two threads that wake each other alternately
 *   pool THREADS ITEMS_S ON_US           threads that wait on a condition variable for work, which is rare
 *
 * Prints `pid=N ready` when it does its work. At SIGTERM, the totals since then: `pid=N wall_ms=N cpu_ms=N
 * blocked_ms=N steps=N`, where blocked_ms is the time in calls that may block (other than sleep), of all
 * threads. Killed when its parent dies.
 */
#include "load.h"
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define PAGE        4096u
#define MAX_THREADS 64
#define AT_ONCE     256u /* page accesses between two readings of the clock */

static atomic_bool ending;
static atomic_ullong blocked_ns, steps;
static uint64_t began_wall, began_cpu;
static uint64_t on_ns, off_ns, held_ns;
static unsigned n_threads = 1;

static void end(int signal)
{
    atomic_store(&ending, true);
}

static bool going(void)
{
    return !atomic_load(&ending);
}

static _Noreturn void fail(const char *what)
{
    perror(what);
    exit(1);
}

/* After SIGTERM no sleep is longer than this. */
static void pause_for(uint64_t ns)
{
    while (ns && going()) {
        uint64_t part = ns < 50000000 ? ns : 50000000;
        rest(part);
        ns -= part;
    }
}

static void blocked_since(uint64_t begin)
{
    atomic_fetch_add(&blocked_ns, now_ns(CLOCK_MONOTONIC) - begin);
}

static void ready(void)
{
    began_wall = now_ns(CLOCK_MONOTONIC);
    began_cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    atomic_store(&blocked_ns, 0);
    atomic_store(&steps, 0);
    printf("pid=%d ready\n", getpid());
    fflush(stdout);
}

static void report(void)
{
    printf("pid=%d wall_ms=%.3f cpu_ms=%.3f blocked_ms=%.3f steps=%llu\n", getpid(),
           (double)(now_ns(CLOCK_MONOTONIC) - began_wall) / 1e6,
           (double)(now_ns(CLOCK_PROCESS_CPUTIME_ID) - began_cpu) / 1e6,
           (double)atomic_load(&blocked_ns) / 1e6, (unsigned long long)atomic_load(&steps));
    fflush(stdout);
}

/* Good enough here: the page that comes next. */
static uint64_t next_random(void)
{
    static uint64_t state = 88172645463325252u;

    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* All threads but this one do the same. */
static void with_threads(void *(*work)(void *))
{
    pthread_t threads[MAX_THREADS];
    static unsigned numbers[MAX_THREADS];

    for (unsigned i = 0; i < n_threads; i++) {
        numbers[i] = i;
        if (i && pthread_create(&threads[i], NULL, work, &numbers[i]))
            fail("pthread_create");
    }
    ready();
    work(&numbers[0]);
    for (unsigned i = 1; i < n_threads; i++)
        pthread_join(threads[i], NULL);
}

/* ---- CPU ---- */

static void *burn_in_turns(void *number)
{
    if (off_ns) /* not all threads at once */
        pause_for((on_ns + off_ns) / n_threads * *(unsigned *)number);
    while (going()) {
        burn(off_ns ? on_ns : 1000000);
        pause_for(off_ns);
        atomic_fetch_add(&steps, 1);
    }
    return NULL;
}

static void run_burn(char **argument)
{
    on_ns = strtoull(argument[0], NULL, 10) * 1000;
    off_ns = strtoull(argument[1], NULL, 10) * 1000;
    n_threads = argument[2] ? (unsigned)atoi(argument[2]) : 1;
    if (n_threads < 1 || n_threads > MAX_THREADS)
        exit(2);
    with_threads(burn_in_turns);
}

static void run_poll(char **argument)
{
    struct pollfd never = {.events = POLLIN};
    int ms = atoi(argument[0]), ends[2];

    on_ns = strtoull(argument[1], NULL, 10) * 1000;
    if (pipe(ends))
        fail("pipe");
    never.fd = ends[0];
    ready();
    while (going()) {
        poll(&never, 1, ms);
        burn(on_ns);
        atomic_fetch_add(&steps, 1);
    }
}

/* ---- disk ---- */

/* Written to the disk, so that it can be read from there; reused if it exists in that size. */
static int open_file(const char *path, uint64_t size, int flags)
{
    static char block[256 * PAGE];
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    if (fd < 0)
        fail(path);
    memset(block, 'x', sizeof block);
    for (uint64_t at = (uint64_t)lseek(fd, 0, SEEK_END); at < size; at += sizeof block)
        if (pwrite(fd, block, sizeof block, (off_t)at) != (ssize_t)sizeof block)
            fail(path);
    fsync(fd);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
    fd = open(path, O_RDWR | O_CLOEXEC | flags);
    if (fd < 0)
        fail(path);
    return fd;
}

static void run_disk(char **argument, int flags, ssize_t (*transfer)(int, void *, size_t, off_t))
{
    size_t length = strtoull(argument[3], NULL, 10) * 1024;
    uint64_t size = strtoull(argument[1], NULL, 10) * 1024;
    void *block = aligned_alloc(PAGE, length);
    int fd;

    off_ns = strtoull(argument[2], NULL, 10) * 1000;
    if (!block || !length || size < length)
        exit(2);
    memset(block, 'y', length);
    fd = open_file(argument[0], size, flags);
    ready();
    while (going()) {
        uint64_t begin = now_ns(CLOCK_MONOTONIC);
        off_t at = (off_t)(next_random() % (size / length) * length);
        if (transfer(fd, block, length, at) != (ssize_t)length)
            fail(argument[0]);
        blocked_since(begin);
        atomic_fetch_add(&steps, 1);
        pause_for(off_ns);
    }
    free(block);
    close(fd);
}

static ssize_t write_through(int fd, void *block, size_t length, off_t at)
{
    ssize_t n = pwrite(fd, block, length, at);

    return fdatasync(fd) ? -1 : n;
}

static void run_read(char **argument)
{
    run_disk(argument, O_DIRECT, pread);
}

static void run_sync(char **argument)
{
    run_disk(argument, 0, write_through);
}

/* ---- memory ---- */

static void touch_at_random(volatile unsigned char *memory, uint64_t pages, bool write)
{
    while (going()) {
        uint64_t begin = now_ns(CLOCK_MONOTONIC);
        for (unsigned i = 0; i < AT_ONCE; i++) {
            volatile unsigned char *at = memory + next_random() % pages * PAGE;
            if (write)
                *at += 1;
            else
                (void)*at;
        }
        blocked_since(begin);
        atomic_fetch_add(&steps, AT_ONCE);
        pause_for(off_ns);
    }
}

static void run_map(char **argument)
{
    uint64_t pages = strtoull(argument[1], NULL, 10) * 1024 / PAGE;
    static char block[256 * PAGE];
    unsigned char *memory;
    int fd;

    off_ns = strtoull(argument[2], NULL, 10) * 1000;
    if (!pages)
        exit(2);
    fd = open_file(argument[0], pages * PAGE, 0);
    memory = mmap(NULL, pages * PAGE, PROT_READ, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED || madvise(memory, pages * PAGE, MADV_RANDOM))
        fail("mmap");
    for (uint64_t at = 0; at < pages * PAGE; at += sizeof block) /* into the cache, as far as it fits */
        if (pread(fd, block, sizeof block, (off_t)at) <= 0)
            fail(argument[0]);
    ready();
    touch_at_random(memory, pages, false);
}

static unsigned char *fresh(uint64_t size)
{
    void *memory =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED || (madvise(memory, size, MADV_NOHUGEPAGE) && errno != EINVAL))
        fail("mmap");
    return memory;
}

/* Incompressible: otherwise a compressed swap device would hardly fill. */
static void use(unsigned char *memory, uint64_t begin, uint64_t end)
{
    for (uint64_t page = begin; page < end; page++)
        for (unsigned i = 0; i < PAGE; i += 8)
            *(uint64_t *)(memory + page * PAGE + i) = i % 16 ? page : next_random();
}

static void run_anon(char **argument)
{
    uint64_t pages = strtoull(argument[0], NULL, 10) * 1024 / PAGE;
    unsigned char *memory;

    off_ns = strtoull(argument[1], NULL, 10) * 1000;
    if (!pages)
        exit(2);
    memory = fresh(pages * PAGE);
    use(memory, 0, pages);
    ready();
    touch_at_random(memory, pages, true);
}

static void run_fill(char **argument)
{
    uint64_t pages = strtoull(argument[0], NULL, 10) * 1024 / PAGE, used = pages;
    uint64_t a_second = strtoull(argument[1], NULL, 10) * 1024 / PAGE;
    uint64_t most = strtoull(argument[2], NULL, 10) * 1024 / PAGE;
    unsigned char *memory = fresh((most + 1) * PAGE);

    use(memory, 0, pages);
    ready();
    while (going()) {
        rest(20000000);
        uint64_t due =
            pages + (uint64_t)((double)(now_ns(CLOCK_MONOTONIC) - began_wall) / 1e9 * (double)a_second);
        due = due < most ? due : most;
        use(memory, used, due);
        used = due > used ? due : used;
        atomic_store(&steps, used * PAGE / 1024);
    }
}

/* ---- locks ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *fight(void *number)
{
    while (going()) {
        uint64_t begin = now_ns(CLOCK_MONOTONIC);
        pthread_mutex_lock(&mutex);
        blocked_since(begin);
        burn(on_ns);
        pause_for(held_ns);
        pthread_mutex_unlock(&mutex);
        atomic_fetch_add(&steps, 1);
        pause_for(off_ns);
    }
    return NULL;
}

static void run_lock(char **argument)
{
    n_threads = (unsigned)atoi(argument[0]);
    on_ns = strtoull(argument[1], NULL, 10) * 1000;
    held_ns = strtoull(argument[2], NULL, 10) * 1000;
    off_ns = strtoull(argument[3], NULL, 10) * 1000;
    if (n_threads < 1 || n_threads > MAX_THREADS)
        exit(2);
    with_threads(fight);
}

static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned flip, items;

static void *play(void *number)
{
    unsigned mine = *(unsigned *)number;

    pthread_mutex_lock(&mutex);
    while (going()) {
        uint64_t begin = now_ns(CLOCK_MONOTONIC);
        while (flip != mine && going())
            pthread_cond_wait(&changed, &mutex);
        blocked_since(begin);
        burn(on_ns);
        flip = !mine;
        pthread_cond_signal(&changed);
        atomic_fetch_add(&steps, 1);
    }
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void run_pingpong(char **argument)
{
    on_ns = strtoull(argument[0], NULL, 10) * 1000;
    n_threads = 2;
    with_threads(play);
}

static void *wait_for_items(void *unused)
{
    pthread_mutex_lock(&mutex);
    for (;;) {
        while (!items)
            pthread_cond_wait(&changed, &mutex);
        items--;
        pthread_mutex_unlock(&mutex);
        burn(on_ns);
        atomic_fetch_add(&steps, 1);
        pthread_mutex_lock(&mutex);
    }
    return NULL;
}

/* Its threads end with the process: there is nothing to wait for. */
static void run_pool(char **argument)
{
    pthread_t thread;
    int a_second = atoi(argument[1]);

    n_threads = (unsigned)atoi(argument[0]);
    on_ns = strtoull(argument[2], NULL, 10) * 1000;
    if (a_second < 1)
        exit(2);
    for (unsigned i = 0; i < n_threads; i++)
        if (pthread_create(&thread, NULL, wait_for_items, NULL))
            fail("pthread_create");
    ready();
    while (going()) {
        pause_for(1000000000u / (unsigned)a_second);
        pthread_mutex_lock(&mutex);
        items++;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&mutex);
    }
}

static const struct {
    const char *name;
    int arguments; /* at least */
    void (*run)(char **argument);
} modes[] = {
    {"burn", 2, run_burn},         {"poll", 2, run_poll}, {"read", 4, run_read}, {"sync", 4, run_sync},
    {"map", 3, run_map},           {"anon", 2, run_anon}, {"fill", 3, run_fill}, {"lock", 4, run_lock},
    {"pingpong", 1, run_pingpong}, {"pool", 3, run_pool},
};

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    signal(SIGTERM, end);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, argv[1]);
    for (unsigned i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(argv[2], modes[i].name) == 0 && argc >= 3 + modes[i].arguments) {
            modes[i].run(argv + 3);
            report();
            return 0;
        }
    return 2;
}
