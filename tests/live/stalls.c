// SPDX-License-Identifier: GPL-2.0-only
/* timeout: 240
 *
 * Sleeps that are no idleness: what is told of processes that sleep on locks and disks for times that they
 * know, and of such as are idle.
 *
 *   stalls                  the tests
 *   stalls SECONDS COUNT    shows all there are, window by window */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/magic.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "clock.h"
#include "host/numbering.h"
#include "host/targets.h"
#include "metric/oncpu.h"
#include "metric/waits.h"
#include "tests/unit/tap.h"

#define MS 1000000ll

/* Between a load and who watches it. */
static struct shared {
    atomic_uint go, ready, over;
    int64_t slept;   /* by the load's own clocks */
    int64_t unsure;  /* of that: may have been too long for threads that hand over to each other */
    uint32_t failed; /* errno of what it could not do */
    uint32_t faults;
} * shared;

/* ---- who watches ---- */

static struct options options = {.top = 10, .interval_ns = 1000000000};
static struct targets targets;
static struct numbering numbering;
static struct metric_context context = {.options = &options, .targets = &targets, .numbering = &numbering};
static struct oncpu *oncpu;

static bool watch_open(void)
{
    struct why w = {""};

    numbering_read(&numbering);
    thresholds_default(&options.thresholds);
    if (!context.names)
        context.names = names_open(&numbering);
    int err = oncpu_open(&oncpu, &context, ONCPU_WAITS | ONCPU_PAIRS | ONCPU_TIMES | ONCPU_STALLS, NULL, &w);
    if (err)
        check(false, "sleeps can be watched: %s", w.text);
    return !err;
}

static void turn(void)
{
    struct why w = {""};
    struct timespec grace = {.tv_nsec = 100000};

    uint64_t now = clock_ns(CLOCK_MONOTONIC);
    oncpu_turn(oncpu);
    nanosleep(&grace, NULL);
    if (oncpu_collect(oncpu, now, &w)) {
        check(false, "a window can be read: %s", w.text);
        exit(done());
    }
}

static void wait_ms(int64_t ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};

    while (nanosleep(&time, &time))
        ;
}

/* What all keys of a process have; -t is not used. */
static struct stalled of(pid_t pid, enum stall what)
{
    const struct pairs *all = waits_stalls(oncpu_waits(oncpu));
    struct stalled sum = {0};

    for (size_t i = 0; i < all->capacity; i++) {
        const struct pair *pair = &all->table[i];
        if (!pair->victim || key_process(pair->victim) != (uint32_t)pid ||
            pair->aggressor != (uint64_t)what + 1)
            continue;
        struct stalled one;
        if (!waits_stalled(oncpu_waits(oncpu), pair->victim, what, &one))
            check(false, "who is in the list is found by his key");
        sum.ns += one.ns;
        sum.count += one.count;
        if (sum.most_ns < one.most_ns)
            sum.most_ns = one.most_ns;
    }
    return sum;
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

/* Of this thread: time that it neither ran nor waited for a CPU. */
static int64_t sleep_clock(void)
{
    return (int64_t)clock_ns(CLOCK_MONOTONIC) - (int64_t)clock_ns(CLOCK_THREAD_CPUTIME_ID) - run_delay();
}

/* As glibc does in each thread. */
static void be_robust(void)
{
    static struct robust_list_head list = {.list = {&list.list}};

    if (syscall(SYS_set_robust_list, &list, sizeof list))
        shared->failed = (uint32_t)errno;
}

static void begin(void)
{
    shared->ready = 1;
    while (!shared->go)
        wait_ms(1);
    begun = sleep_clock();
}

static void end(void)
{
    shared->slept += sleep_clock() - begun;
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

/* The lock is waited for before anybody watches. */
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

/* How much of the time that it takes is in sleeps of 0.9 ms or more. */
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
    struct partner *side = of;
    int64_t start = sleep_clock();

    side->unsure = hand_over(1);
    side->slept = sleep_clock() - start;
    return NULL;
}

static void ping_pong(void)
{
    pthread_t other;
    struct partner side = {0};

    begin();
    pthread_create(&other, NULL, other_side, &side);
    shared->unsure = hand_over(0);
    end();
    pthread_join(other, NULL);
    shared->slept += side.slept;
    shared->unsure += side.unsure;
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

/* A file three times as large as what the group may have. */
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

/* Whether files here lie on a disk, and not in memory. */
static bool has_disk(void)
{
    struct statfs fs;

    return !statfs(DIRECTORY, &fs) && fs.f_type != TMPFS_MAGIC && fs.f_type != RAMFS_MAGIC;
}

/* ---- one load, watched ---- */

struct result {
    struct stalled of[STALLS];
    unsigned looks; /* windows of the load that end in a look at those who sleep, */
    int64_t apart;  /* and the most by which locks were told wrongly up to the end of one */
    pid_t pid;
};

static pid_t launch(void (*load)(void))
{
    memset(shared, 0, sizeof *shared);
    fflush(stdout);
    pid_t pid = fork();
    if (!pid) {
        load();
        shared->over = 1;
        while (shared->go < 2 && !shared->failed) /* what its end costs is not in its times */
            wait_ms(1);
        _exit(0);
    }
    for (int i = 0; i < 20000 && !shared->ready && !shared->failed; i++)
        wait_ms(1);
    return pid;
}

static void add_window(struct result *result)
{
    turn();
    for (int what = 0; what < STALLS; what++) {
        struct stalled one = of(result->pid, (enum stall)what);
        result->of[what].ns += one.ns;
        result->of[what].count += one.count;
        if (result->of[what].most_ns < one.most_ns)
            result->of[what].most_ns = one.most_ns;
    }
}

static struct result watched(void (*load)(void))
{
    struct result result = {.pid = launch(load)};
    int status;

    turn();
    shared->go = 1;
    uint64_t begin = clock_ns(CLOCK_MONOTONIC);
    for (int windows = 0; !shared->over && !shared->failed && windows < 600; windows++) {
        wait_ms(100);
        int64_t passed = (int64_t)(clock_ns(CLOCK_MONOTONIC) - begin);
        add_window(&result);
        int64_t apart = passed - result.of[STALL_LOCK].ns;
        if (shared->over || !waits_totals(oncpu_waits(oncpu))->open_waits)
            continue;
        result.looks++;
        result.apart = llabs(apart) > result.apart ? llabs(apart) : result.apart;
    }
    add_window(&result);
    add_window(&result);
    if (!shared->over)
        kill(result.pid, SIGKILL);
    shared->go = 2;
    waitpid(result.pid, &status, 0);
    return result;
}

static bool is_near(int64_t ns, int64_t truth, int64_t permille, int64_t slack)
{
    int64_t apart = ns > truth ? ns - truth : truth - ns;
    return apart <= truth * permille / 1000 + slack;
}

static void is_told(const char *name, void (*load)(void), enum stall what, int64_t permille)
{
    struct result r = watched(load);
    int64_t others = r.of[STALL_IO].ns + r.of[STALL_MEMORY].ns + r.of[STALL_LOCK].ns - r.of[what].ns;

    check(!shared->failed && is_near(r.of[what].ns, shared->slept, permille, 2 * MS) &&
              others <= shared->slept / 20 + 5 * MS,
          "%s: %.3f ms of %.3f ms (io %.3f, memory %.3f, lock %.3f; most %.3f; %lld times), errno %u", name,
          (double)r.of[what].ns / 1e6, (double)shared->slept / 1e6, (double)r.of[STALL_IO].ns / 1e6,
          (double)r.of[STALL_MEMORY].ns / 1e6, (double)r.of[STALL_LOCK].ns / 1e6,
          (double)r.of[what].most_ns / 1e6, (long long)r.of[what].count, shared->failed);
}

static void is_idle(const char *name, void (*load)(void))
{
    struct result r = watched(load);

    check(!shared->failed && shared->slept >= 290 * MS && r.of[STALL_LOCK].ns <= 5 * MS &&
              !r.of[STALL_IO].ns && !r.of[STALL_MEMORY].ns,
          "%s: slept %.3f ms; io %.3f, memory %.3f, lock %.3f, errno %u", name, (double)shared->slept / 1e6,
          (double)r.of[STALL_IO].ns / 1e6, (double)r.of[STALL_MEMORY].ns / 1e6,
          (double)r.of[STALL_LOCK].ns / 1e6, shared->failed);
}

static void handing_over(void)
{
    struct result r = watched(ping_pong);
    int64_t told = r.of[STALL_LOCK].ns, slack = shared->slept / 20 + 2 * MS;

    check(!shared->failed && told <= shared->slept + slack &&
              told >= shared->slept - shared->unsure - slack && r.of[STALL_LOCK].count >= ROUNDS / 2,
          "threads that hand over to each other: %.3f ms of %.3f ms, of which %.3f may not count; %lld times",
          (double)told / 1e6, (double)shared->slept / 1e6, (double)shared->unsure / 1e6,
          (long long)r.of[STALL_LOCK].count);
}

/* Up to each turn it is told, though it has not ended. */
static void while_it_lasts(void)
{
    struct result r = watched(lock_2000);

    check(!shared->failed && r.looks && r.apart < 20 * MS &&
              is_near(r.of[STALL_LOCK].ns, shared->slept, 10, MS),
          "a lock held for seconds shows while it is: %.3f ms apart at most in %u looks, %.3f ms of %.3f ms "
          "in all",
          (double)r.apart / 1e6, r.looks, (double)r.of[STALL_LOCK].ns / 1e6, (double)shared->slept / 1e6);
}

static void show_all(unsigned ms, unsigned windows)
{
    static const char *const names[STALLS] = {"io", "memory", "lock"};

    turn();
    for (unsigned i = 0; i < windows; i++) {
        wait_ms(ms);
        turn();
        const struct waits *w = oncpu_waits(oncpu);
        const struct pairs *all = waits_stalls(w);
        printf("window %u: lost %llu looked %d\n", i, (unsigned long long)waits_totals(w)->stalls_lost,
               waits_totals(w)->open_waits);
        for (size_t j = 0; j < all->capacity; j++) {
            const struct pair *pair = &all->table[j];
            if (!pair->victim || pair->ns < 100000)
                continue;
            const struct name *name = oncpu_name(oncpu, pair->victim, clock_ns(CLOCK_MONOTONIC));
            printf("  %7u %-15.*s %-6s %10.3f ms %7lld times, most %.3f ms\n", key_process(pair->victim),
                   (int)name->comm_length, name->comm, names[(pair->aggressor - 1) % STALLS],
                   (double)pair->ns / 1e6, (long long)pair->count, (double)pair->most_ns / 1e6);
        }
        oncpu_shown(oncpu);
    }
}

static void disks(void)
{
    if (!has_disk()) {
        skip("direct reads, synced writes", "needs DISK: " DIRECTORY " is in memory");
        return;
    }
    is_told("direct reads", direct_reads, STALL_IO, 20);
    is_told("synced writes", synced_writes, STALL_IO, 50);
    if (access(MEMORY_GROUPS "/memory.limit_in_bytes", F_OK)) {
        skip("a mapped file larger than the limit of memory", "needs MEMCG1: no such control groups");
        return;
    }
    is_told("a mapped file larger than the limit of memory", thrashing, STALL_MEMORY, 50);
    check(shared->faults > 3000, "it did fault: %u times", shared->faults);
    rmdir(CGROUP);
}

static void locks(void)
{
    is_told("a mutex held for 300 ms", lock_300, STALL_LOCK, 10);
    is_told("a lock as glibc has it", like_glibc, STALL_LOCK, 10);
    is_told("a lock that lends its priority", lock_pi, STALL_LOCK, 10);
    is_told("a robust lock", like_robust, STALL_LOCK, 10);
    is_told("a lock as Rust has it", like_rust, STALL_LOCK, 10);
    handing_over();
    while_it_lasts();
}

static void idleness(void)
{
    is_idle("threads that wait for work are idle", idle_workers);
    is_idle("a condition of glibc is idle", like_glibc_condition);
    is_idle("a condition of musl is idle", like_musl_condition);
    is_idle("a parked thread is idle", like_parking);
    is_idle("a thread without work, as Go has it, is idle", like_go_idle);
    is_idle("a condition of Rust that was signalled twice is idle", like_rust_signals);
}

/* Two turns, between which a lock is waited for that was waited for before anybody watched. */
static void since_before(pid_t pid)
{
    turn();
    uint64_t begin = clock_ns(CLOCK_MONOTONIC);
    wait_ms(200);
    turn();
    int64_t truth = (int64_t)(clock_ns(CLOCK_MONOTONIC) - begin), told = of(pid, STALL_LOCK).ns;
    check(is_near(told, truth, 50, 5 * MS), "who slept on a lock since before is seen: %.3f ms of %.3f",
          (double)told / 1e6, (double)truth / 1e6);
}

int main(int argc, char **argv)
{
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 1;
    if (argc == 3) {
        if (!watch_open())
            return 1;
        show_all((unsigned)(atof(argv[1]) * 1000), (unsigned)atoi(argv[2]));
        return 0;
    }
    pid_t before = launch(lock_before);
    wait_ms(20);
    if (!watch_open())
        return done();
    if (!oncpu_waits(oncpu)) {
        check(false, "the kernel tells who waits and sleeps");
        return done();
    }
    if (waits_stalls_known(oncpu_waits(oncpu), STALL_LOCK)) {
        since_before(before);
    } else {
        skip("sleeps on locks", "needs a kernel with bpf_task_pt_regs (5.15)");
    }
    kill(before, SIGKILL);
    waitpid(before, NULL, 0);
    if (waits_stalls_known(oncpu_waits(oncpu), STALL_LOCK))
        locks();
    idleness();
    disks();
    oncpu_close(oncpu);
    names_close(context.names);
    return done();
}
