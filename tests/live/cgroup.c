/* SPDX-License-Identifier: GPL-2.0-only */
/* timeout: 120 */
/* Groups with a quota and a limit on the running kernel, whichever version has the controllers: what hog
 * reads about them is what their own files say, and what the processes in them did. */
#include "host/cgroup.h"
#include "base/clock.h"
#include "tests/live/group.h"
#include "tests/unit/tap.h"
#include "verdict/growth.h"
#include <linux/magic.h>
#include <math.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <sys/wait.h>

#define MIB       1048576ull
#define MS        1000000ull
#define QUOTA_US  20000
#define PERIOD_US 100000
#define LIMIT     (96 * MIB)
#define RATE      (10 * MIB) /* a second */
#define TINY      (24 * MIB)
#define FILE_SIZE (32 * MIB)

/* What a child does in the inner group. `done` is shared with the parent. */
typedef void job(volatile uint64_t *done);

static volatile uint64_t *shared;

static void idle(volatile uint64_t *done)
{
    pause();
}

static void burn(volatile uint64_t *done)
{
    for (;;)
        ++*done;
}

static void touch(volatile char *memory, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i += 4096)
        memory[i] = 1;
}

/* Runs for the requested CPU time, however late it gets the CPU. */
static void fill(volatile uint64_t *done)
{
    char *memory = mmap(NULL, LIMIT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t start = clock_ns(CLOCK_MONOTONIC), due = 0;

    while (due < LIMIT / 4 * 3) {
        due = (clock_ns(CLOCK_MONOTONIC) - start) / 1000 * RATE / 1000000;
        touch(memory, *done, due);
        *done = due;
        usleep(10000);
    }
    pause();
}

static void burst(volatile uint64_t *done)
{
    touch(mmap(NULL, LIMIT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 0, LIMIT);
    _exit(0);
}

static void write_file(volatile uint64_t *done)
{
    static char block[65536];
    char name[] = "/var/tmp/hog-XXXXXX";
    int fd = mkstemp(name);

    unlink(name);
    while (fd >= 0 && *done < FILE_SIZE && write(fd, block, sizeof block) == sizeof block)
        *done += sizeof block;
    pause();
}

/* Reads a file that does not fit into the limit, over and over. */
static void read_again(volatile uint64_t *done)
{
    static char block[65536];
    char name[] = "/var/tmp/hog-XXXXXX";
    int fd = mkstemp(name);

    unlink(name);
    for (uint64_t n = 0; n < FILE_SIZE; n += sizeof block)
        if (write(fd, block, sizeof block) != sizeof block)
            return;
    for (;; lseek(fd, 0, SEEK_SET))
        while (read(fd, block, sizeof block) > 0)
            *done += sizeof block;
}

static pid_t start(job *does)
{
    int gate[2];
    char byte;

    *shared = 0;
    if (pipe(gate) < 0)
        return -1;
    pid_t pid = fork();
    if (!pid) {
        alarm(60);
        if (read(gate[0], &byte, 1) == 1)
            does(shared);
        _exit(1);
    }
    check(!group_enter(pid), "a process enters the group");
    if (write(gate[1], "", 1) != 1)
        perror("write");
    close(gate[0]);
    close(gate[1]);
    return pid;
}

/* The signal that ended it, or -1 if it did not end. */
static int ended(pid_t pid)
{
    int status;

    for (int i = 0; i < 2000; i++, usleep(10000))
        if (waitpid(pid, &status, WNOHANG) == pid)
            return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return -1;
}

static void stop(pid_t pid)
{
    kill(pid, SIGKILL);
    ended(pid);
}

static bool is(struct cgroup_name name, const char *text)
{
    return name.length == strlen(text) && !memcmp(name.text, text, name.length);
}

static const struct cgroup *ask(struct cgroups *cgroups, pid_t pid)
{
    static const struct cgroup nothing;
    const struct cgroup *g = cgroups_of(cgroups, (uint32_t)pid, (uint64_t)pid, clock_ns(CLOCK_MONOTONIC));

    return g ? g : &nothing;
}

/* Counters of the kernel that hog read between two readings of this test, twice: hog's difference cannot be
 * outside. */
static bool bracketed(uint64_t value, const uint64_t first[2], const uint64_t second[2])
{
    return value >= second[0] - first[1] && value <= second[1] - first[0];
}

static void check_quota(struct cgroups *cgroups)
{
    uint64_t first[2], second[2], before, after;
    pid_t pid = start(burn);

    sleep(1);
    first[0] = group_throttled_ns();
    const struct cgroup *g = ask(cgroups, pid);
    first[1] = group_throttled_ns();
    check(g->cpu.known && is(g->cpu.path, group_inner()), "the path of the process's group: %.*s",
          (int)g->cpu.path.length, g->cpu.path.text);
    check(is(g->cpu.tightest, group_outer()) && fabs(g->cpu.cpus - 0.2) < 1e-9,
          "the quota is that of the group above: %g", g->cpu.cpus);
    usleep(1500000);
    second[0] = group_throttled_ns();
    before = group_pressure_us();
    g = ask(cgroups, pid);
    after = group_pressure_us();
    second[1] = group_throttled_ns();
    check(g->cpu.since_known && is(g->cpu.throttled, group_outer()) && g->cpu.throttled_share > 0.5,
          "a busy loop in it is throttled, by the group above: %g of its periods", g->cpu.throttled_share);
    check(bracketed(g->cpu.throttled_ns, first, second), "for as long as the kernel says: %.3f ms",
          (double)g->cpu.throttled_ns / 1e6);
    bool known = g->pressure[PRESSURE_CPU].known;
    check(known == (before != UINT64_MAX) && (!known || (g->pressure[PRESSURE_CPU].some_us >= before &&
                                                         g->pressure[PRESSURE_CPU].some_us <= after)),
          "the pressure of the group, where the kernel has it: %llu us in %llu..%llu",
          (unsigned long long)g->pressure[PRESSURE_CPU].some_us, (unsigned long long)before,
          (unsigned long long)after);
    stop(pid);
}

/* Reported after three seconds; later if the load did not get the CPU that it needs to grow evenly. */
static void check_growth(struct cgroups *cgroups)
{
    struct growth growth = {0};
    usleep(600000); /* the last reading is stale now */
    pid_t pid = start(fill);
    uint64_t begin = clock_ns(CLOCK_MONOTONIC), filled = 0, used = 0, passed;
    const struct cgroup *g;
    double left, truth;

    do {
        g = ask(cgroups, pid);
        growth_add(&growth, g->read_ns, g->memory.used);
        if (g->read_ns > begin && clock_ns(CLOCK_MONOTONIC) - g->read_ns < 20 * MS) {
            filled = *shared;
            used = g->memory.used;
        }
        struct growth_rate rate = growth_rate(&growth);
        left = growth_seconds_left(&rate, g->memory.headroom);
        truth = (double)(LIMIT - *shared) / RATE;
        usleep(100000);
        passed = clock_ns(CLOCK_MONOTONIC) - begin;
    } while (passed < 3100 * MS || (passed < 7000 * MS && fabs(left - truth) > truth * 0.2));
    check(g->memory.known && is(g->memory.tightest, group_outer()) && g->memory.limit == LIMIT,
          "the limit is that of the group above: %llu", (unsigned long long)g->memory.limit);
    check(used + MIB >= filled && used <= filled + 4 * MIB, "used is what was filled: %.2f of %.2f MiB",
          (double)used / MIB, (double)filled / MIB);
    check(fabs(left - truth) <= truth * 0.2, "when it will be full: %.2f s, in truth %.2f s", left, truth);
    stop(pid);
}

/* Whether files in /var/tmp have a page cache that can be dropped. */
static bool on_disk(void)
{
    struct statfs fs;

    return !statfs("/var/tmp", &fs) && fs.f_type != TMPFS_MAGIC && fs.f_type != RAMFS_MAGIC;
}

/* A process that writes a file does not use up the group: its page cache can be reclaimed. */
static void check_page_cache(struct cgroups *cgroups)
{
    pid_t pid = start(write_file);
    for (int i = 0; i < 500 && *shared < FILE_SIZE; i++)
        usleep(20000);
    usleep(600000);
    const struct cgroup *g = ask(cgroups, pid);
    check(*shared == FILE_SIZE && g->memory.usage >= FILE_SIZE && g->memory.used < 8 * MIB,
          "a file's page cache is not used memory: usage %.1f MiB, used %.1f MiB",
          (double)g->memory.usage / MIB, (double)g->memory.used / MIB);
    stop(pid);
}

static void check_refaults(struct cgroups *cgroups)
{
    check(!group_limit(TINY), "the limit is lowered");
    pid_t pid = start(read_again);
    for (int i = 0; i < 1000 && *shared < 2 * FILE_SIZE; i++)
        usleep(20000);
    ask(cgroups, pid);
    usleep(600000);
    const struct cgroup *g = ask(cgroups, pid);
    check(is(g->memory.reclaiming, group_outer()) && g->memory.refaults_since > 100 &&
              g->memory.reclaim_limit == TINY,
          "a file that does not fit is fetched again, for the group's limit: %llu pages in %llu ms",
          (unsigned long long)g->memory.refaults_since,
          (unsigned long long)((g->read_ns - g->earlier_ns) / MS));
    check(g->memory.at_limit && g->memory.used < TINY / 2,
          "at its limit, and yet not about to be killed: used %.1f MiB", (double)g->memory.used / MIB);
    stop(pid);
}

static void check_oom(struct cgroups *cgroups)
{
    pid_t watched = start(idle);

    check(!group_limit(TINY), "the limit is lowered");
    usleep(600000);
    ask(cgroups, watched);
    uint64_t kills = group_oom_kills(), reclaims = group_reclaims();
    check(ended(start(burst)) == SIGKILL, "a process that takes more than the limit is killed");
    usleep(600000);
    const struct cgroup *g = ask(cgroups, watched);
    check(g->memory.limit == TINY && g->memory.since_known && g->memory.oom_kills_since == 1 &&
              g->memory.oom_kills == kills + 1 && group_oom_kills() == kills + 1,
          "the kill is counted: %llu since, %llu in all", (unsigned long long)g->memory.oom_kills_since,
          (unsigned long long)g->memory.oom_kills);
    check(g->memory.reclaims_since + reclaims == group_reclaims(),
          "and so is the reclaim at the limit: %llu times", (unsigned long long)g->memory.reclaims_since);
    stop(watched);
    usleep(600000);
    check(!cgroups_of(cgroups, (uint32_t)watched, (uint64_t)watched, clock_ns(CLOCK_MONOTONIC)),
          "a process that has ended has no group");
}

int main(void)
{
    const char *missing = group_begin(QUOTA_US, PERIOD_US, LIMIT);
    struct cgroups *cgroups;

    if (missing) {
        skip("groups with limits", missing);
        return done();
    }
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cgroups = cgroups_open("");
    uint64_t begin = clock_ns(CLOCK_MONOTONIC);
    size_t primed = cgroups_prime(cgroups, begin);
    check(primed > 0, "the groups of all processes: %zu in %.2f ms, version %s", primed,
          (double)(clock_ns(CLOCK_MONOTONIC) - begin) / 1e6, group_v1() ? "1" : "2");
    check_quota(cgroups);
    check_growth(cgroups);
    if (on_disk()) {
        check_page_cache(cgroups);
        check_refaults(cgroups);
    } else {
        skip("a file's page cache is not used memory", "needs DISK: /var/tmp is in memory");
    }
    check_oom(cgroups);
    cgroups_close(cgroups);
    check(!group_end(), "the groups are gone");
    return done();
}
