// SPDX-License-Identifier: GPL-2.0-only
/* timeout: 240
 *
 * Sleep that is not idleness: what hog reports for processes that sleep on locks and disks for known times,
 * and for idle ones.
 *
 *   stalls                  the tests
 *   stalls SECONDS COUNT    shows all processes, window by window */
#include "verdict/thresholds.h"
#include <linux/magic.h>
#include <signal.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include "host/pidns.h"
#include "host/targets.h"
#include "source/sched/sched.h"
#include "source/sched/waits.h"
#include "tests/live/sleepers.h"
#include "tests/live/one_source.h"
#include "tests/unit/tap.h"

#define MS 1000000ll

/* ---- the observer ---- */

static struct run_options options = {.top = 10};
static struct thresholds thresholds;
static struct targets targets;
static struct pidns pidns;
static struct source_context context = {.options = &options, .targets = &targets, .pidns = &pidns};
static struct sched *sched;

static bool watch_open(void)
{
    struct error why = {""};

    pidns_read(&pidns);
    thresholds_default(&thresholds);
    options.handoff_ns = (uint64_t)(thresholds.value[HANDOFF_US] * 1e3);
    if (!context.names)
        context.names = names_open(&pidns);
    static struct hook_report hooks[MAX_HOOKS];
    int err = source_open(&context, &sched_source, SCHED_WAITS | SCHED_PAIRS | SCHED_TIMES | SCHED_BLOCKED,
                          hooks, &why);
    sched = sched_of(&context);
    if (err)
        check(false, "sleeps can be watched: %s", why.text);
    return !err;
}

static void flip(void)
{
    struct error why = {""};
    struct timespec grace = {.tv_nsec = 100000};
    const struct window window = {.end_mono = clock_ns(CLOCK_MONOTONIC)};

    sources_flip(&opened);
    nanosleep(&grace, NULL);
    if (sources_collect(&opened, &window, &why)) {
        check(false, "a window can be read: %s", why.text);
        exit(done());
    }
}

/* The sum over all keys of a process; -t is not used. */
static struct blocked_sum of(pid_t pid, enum blocked what)
{
    const struct pairs *all = waits_blocked_all(sched_waits(sched));
    struct blocked_sum sum = {0};

    for (size_t i = 0; i < all->capacity; i++) {
        const struct pair *pair = &all->table[i];
        if (!pair->victim || key_process(pair->victim) != (uint32_t)pid ||
            pair->aggressor != (uint64_t)what + 1)
            continue;
        struct blocked_sum one;
        if (!waits_blocked(sched_waits(sched), pair->victim, what, &one))
            check(false, "a listed task is found by its key");
        sum.ns += one.ns;
        sum.count += one.count;
        if (sum.most_ns < one.most_ns)
            sum.most_ns = one.most_ns;
    }
    return sum;
}

/* Whether files here are on a disk, and not in memory. */
static bool has_disk(void)
{
    struct statfs fs;

    return !statfs(DIRECTORY, &fs) && fs.f_type != TMPFS_MAGIC && fs.f_type != RAMFS_MAGIC;
}

/* ---- one load, observed ---- */

struct result {
    struct blocked_sum of[BLOCKED_KINDS];
    unsigned looks; /* windows of the load that end in a scan of the sleeping tasks, */
    int64_t apart;  /* and the largest error of lock times at the end of one */
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
        while (shared->go < 2 && !shared->failed) /* the cost of its end is not in its times */
            wait_ms(1);
        _exit(0);
    }
    for (int i = 0; i < 20000 && !shared->ready && !shared->failed; i++)
        wait_ms(1);
    return pid;
}

static void add_window(struct result *result)
{
    flip();
    for (int what = 0; what < BLOCKED_KINDS; what++) {
        struct blocked_sum one = of(result->pid, (enum blocked)what);
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

    flip();
    shared->go = 1;
    uint64_t begin = clock_ns(CLOCK_MONOTONIC);
    for (int windows = 0; !shared->over && !shared->failed && windows < 600; windows++) {
        wait_ms(100);
        int64_t passed = (int64_t)(clock_ns(CLOCK_MONOTONIC) - begin);
        add_window(&result);
        int64_t apart = passed - result.of[BLOCKED_LOCK].ns - result.of[BLOCKED_IO].ns;
        if (shared->over || !waits_totals(sched_waits(sched))->open_waits)
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

/* Whether they are equal, except that the truth may include stolen time: it comes from the load's own clocks.
 */
static bool is_near(int64_t ns, int64_t truth, int64_t permille, int64_t slack)
{
    int64_t more = truth * permille / 1000 + slack;

    return ns >= truth - shared->stolen - more && ns <= truth + more;
}

static void is_told(const char *name, void (*load)(void), enum blocked what, int64_t permille)
{
    struct result r = watched(load);
    int64_t others = r.of[BLOCKED_IO].ns + r.of[BLOCKED_MEMORY].ns + r.of[BLOCKED_LOCK].ns - r.of[what].ns;

    check(!shared->failed && is_near(r.of[what].ns, shared->slept, permille, 2 * MS) &&
              others <= shared->slept / 20 + 5 * MS,
          "%s: %.3f ms of %.3f ms (io %.3f, memory %.3f, lock %.3f; most %.3f; %lld times), errno %u", name,
          (double)r.of[what].ns / 1e6, (double)shared->slept / 1e6, (double)r.of[BLOCKED_IO].ns / 1e6,
          (double)r.of[BLOCKED_MEMORY].ns / 1e6, (double)r.of[BLOCKED_LOCK].ns / 1e6,
          (double)r.of[what].most_ns / 1e6, (long long)r.of[what].count, shared->failed);
}

static void is_idle(const char *name, void (*load)(void))
{
    struct result r = watched(load);

    check(!shared->failed && shared->slept >= 250 * MS && r.of[BLOCKED_LOCK].ns <= 5 * MS &&
              !r.of[BLOCKED_IO].ns && !r.of[BLOCKED_MEMORY].ns,
          "%s: slept %.3f ms; io %.3f, memory %.3f, lock %.3f, errno %u", name, (double)shared->slept / 1e6,
          (double)r.of[BLOCKED_IO].ns / 1e6, (double)r.of[BLOCKED_MEMORY].ns / 1e6,
          (double)r.of[BLOCKED_LOCK].ns / 1e6, shared->failed);
}

static void handing_over(void)
{
    struct result r = watched(ping_pong);
    int64_t told = r.of[BLOCKED_LOCK].ns, slack = shared->slept / 20 + 2 * MS;

    check(!shared->failed && told <= shared->slept + slack &&
              told >= shared->slept - shared->unsure - shared->stolen - slack &&
              r.of[BLOCKED_LOCK].count >= ROUNDS / 2,
          "threads that hand over to each other: %.3f ms of %.3f ms, of which %.3f may not count; %lld times",
          (double)told / 1e6, (double)shared->slept / 1e6, (double)shared->unsure / 1e6,
          (long long)r.of[BLOCKED_LOCK].count);
}

/* At each flip it is reported up to then, though it has not ended. */
static void while_it_lasts(const char *name, void (*load)(void), enum blocked what)
{
    struct result r = watched(load);

    check(!shared->failed && r.looks && r.apart < 20 * MS && shared->slept > 1500 * MS &&
              is_near(r.of[what].ns, shared->slept, 10, MS),
          "%s shows while it lasts: %.3f ms apart at most in %u scans, %.3f ms of %.3f ms in all, errno %u",
          name, (double)r.apart / 1e6, r.looks, (double)r.of[what].ns / 1e6, (double)shared->slept / 1e6,
          shared->failed);
}

static void show_all(unsigned ms, unsigned windows)
{
    static const char *const names[BLOCKED_KINDS] = {"io", "memory", "lock"};

    flip();
    for (unsigned i = 0; i < windows; i++) {
        wait_ms(ms);
        flip();
        const struct waits *w = sched_waits(sched);
        const struct pairs *all = waits_blocked_all(w);
        printf("window %u: lost %llu scanned %d\n", i, (unsigned long long)waits_totals(w)->blocked_lost,
               waits_totals(w)->open_waits);
        for (size_t j = 0; j < all->capacity; j++) {
            const struct pair *pair = &all->table[j];
            if (!pair->victim || pair->ns < 100000)
                continue;
            const struct name *name = sched_name(sched, pair->victim, clock_ns(CLOCK_MONOTONIC));
            printf("  %7u %-15.*s %-6s %10.3f ms %7lld times, most %.3f ms\n", key_process(pair->victim),
                   (int)name->comm_length, name->comm, names[(pair->aggressor - 1) % BLOCKED_KINDS],
                   (double)pair->ns / 1e6, (long long)pair->count, (double)pair->most_ns / 1e6);
        }
        sources_shown(&opened);
    }
}

static void disks(void)
{
    if (!has_disk()) {
        skip("direct reads, synced writes", "needs DISK: " DIRECTORY " is in memory");
        return;
    }
    is_told("direct reads", direct_reads, BLOCKED_IO, 20);
    is_told("synced writes", synced_writes, BLOCKED_IO, 50);
    if (access(BLOCK_GROUPS "/blkio.throttle.read_bps_device", F_OK))
        skip("a read of seconds", "needs BLKIO1: no such control groups");
    else
        while_it_lasts("a read of seconds", slow_read, BLOCKED_IO);
    rmdir(SLOW_GROUP);
    if (access(MEMORY_GROUPS "/memory.limit_in_bytes", F_OK)) {
        skip("a mapped file larger than the limit of memory", "needs MEMCG1: no such control groups");
        return;
    }
    is_told("a mapped file larger than the limit of memory", thrashing, BLOCKED_MEMORY, 50);
    check(shared->faults > 3000, "it did fault: %u times", shared->faults);
    rmdir(CGROUP);
}

static void locks(void)
{
    is_told("a mutex held for 300 ms", lock_300, BLOCKED_LOCK, 10);
    is_told("a lock as glibc has it", like_glibc, BLOCKED_LOCK, 10);
    is_told("a lock that lends its priority", lock_pi, BLOCKED_LOCK, 10);
    is_told("a robust lock", like_robust, BLOCKED_LOCK, 10);
    is_told("a lock as Rust has it", like_rust, BLOCKED_LOCK, 10);
    handing_over();
    while_it_lasts("a lock held for seconds", lock_2000, BLOCKED_LOCK);
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

/* Up to a flip with a scan. A wait that began before the observer counts from the first scan. */
static void since_before(pid_t pid)
{
    flip();
    uint64_t begin = clock_ns(CLOCK_MONOTONIC);
    int64_t told = 0, truth = 0;
    for (int windows = 0; windows < 50; windows++) {
        wait_ms(200);
        flip();
        truth = (int64_t)(clock_ns(CLOCK_MONOTONIC) - begin);
        told += of(pid, BLOCKED_LOCK).ns;
        if (waits_totals(sched_waits(sched))->open_waits)
            break;
    }
    check(is_near(told, truth, 50, 5 * MS),
          "a task that slept on a lock before the start is seen: %.3f ms of %.3f", (double)told / 1e6,
          (double)truth / 1e6);
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
    if (!sched_waits(sched)) {
        check(false, "the kernel reports waiting and sleeping tasks");
        return done();
    }
    if (waits_blocked_known(sched_waits(sched), BLOCKED_LOCK)) {
        since_before(before);
    } else {
        skip("sleeps on locks", "needs a kernel with bpf_task_pt_regs (5.15)");
    }
    kill(before, SIGKILL);
    waitpid(before, NULL, 0);
    if (waits_blocked_known(sched_waits(sched), BLOCKED_LOCK))
        locks();
    idleness();
    disks();
    sources_close(&opened);
    names_close(context.names);
    return done();
}
