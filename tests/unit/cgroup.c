/* SPDX-License-Identifier: GPL-2.0-only */
/* Cgroups of made-up hosts: version 1, version 2, both, damaged. */
#include "host/cgroup.h"
#include "host/cgroup_place.h"
#include "host/cgroup_v1.h"
#include "tests/unit/tap.h"
#include "tests/unit/tree.h"

#define MIB    1048576ull
#define SECOND 1000000000ull
#define V1                                                                                                   \
    "/proc/self/mountinfo", "30 23 0:30 / /v1/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"                       \
                            "31 23 0:31 / /v1/me\\040mory rw shared:9 master:2 - cgroup cgroup rw,memory\n"
#define V2                                                                                                   \
    "/proc/self/mountinfo", "27 1 254:0 / / rw - ext4 /dev/vda rw\n32 27 0:32 / /v2 rw - cgroup2 none rw\n"
#define STAT_V2                                                                                              \
    "anon 9\nfile 8\ninactive_anon 1\nactive_anon 2\ninactive_file 10485760\nactive_file 5242880\n"          \
    "slab_reclaimable 1048576\n"
#define V1_STAT                                                                                              \
    "inactive_file 1\nworkingset_refault_file 9\ntotal_inactive_file 10485760\ntotal_active_file 20971520\n"
#define MEMINFO "MemTotal: 1024000 kB\nMemAvailable: 512000 kB\nSwapTotal: 102400 kB\nSwapFree: 20480 kB\n"

static struct cgroups *cgroups;
static uint64_t now;

static void begin(const char *path, const char *mountinfo)
{
    cgroups_close(cgroups);
    tree_remove("");
    tree_file(path, mountinfo);
    tree_file("/proc/meminfo", MEMINFO);
    cgroups = cgroups_open(tree_root);
}

static const struct cgroup *ask(uint32_t pid)
{
    return cgroups_of(cgroups, pid, 1, now += SECOND);
}

static bool is(struct cgroup_name name, const char *text)
{
    return name.length == strlen(text) && !memcmp(name.text, text, name.length);
}

static void number(const char *path, unsigned long long value)
{
    char text[32];

    snprintf(text, sizeof text, "%llu\n", value);
    tree_file(path, text);
}

static void stat_v2(const char *path, unsigned periods, unsigned throttled)
{
    char text[160];

    snprintf(text, sizeof text, "usage_usec 7\nnr_periods %u\nnr_throttled %u\nthrottled_usec %u\n", periods,
             throttled, throttled * 1000);
    tree_file(path, text);
}

static void check_quota_v2(void)
{
    begin(V2);
    tree_file("/proc/7/cgroup", "0::/a/b/c\n");
    tree_file("/v2/cpu.stat", "usage_usec 7\n"); /* the root has no quota */
    tree_file("/v2/a/cpu.max", "300000 100000\n");
    stat_v2("/v2/a/cpu.stat", 100, 10);
    tree_file("/v2/a/b/cpu.max", "25000 100000\n");
    stat_v2("/v2/a/b/cpu.stat", 100, 0);
    tree_file("/v2/a/b/c/cpu.max", "max 100000\n");
    const struct cgroup *g = ask(7);
    check(g && g->cpu.known && is(g->cpu.path, "/a/b/c"), "v2: the process's group");
    check(is(g->cpu.tightest, "/a/b") && g->cpu.cpus == 0.25, "v2: the tightest quota is that of /a/b: %g",
          g->cpu.cpus);
    check(!g->cpu.since_known && !g->cpu.throttled.length, "v2: at first nothing is known of what was since");
    stat_v2("/v2/a/cpu.stat", 120, 15);
    stat_v2("/v2/a/b/cpu.stat", 110, 0);
    g = ask(7);
    check(g->cpu.since_known && is(g->cpu.throttled, "/a") && g->cpu.throttled_share == 0.25 &&
              g->cpu.throttled_cpus == 3 && g->cpu.throttled_ns == 5000000,
          "v2: a wider quota above was used up: share %g, %llu ns", g->cpu.throttled_share,
          (unsigned long long)g->cpu.throttled_ns);
    stat_v2("/v2/a/b/cpu.stat", 120, 10);
    g = ask(7);
    check(is(g->cpu.throttled, "/a/b") && g->cpu.throttled_share == 1, "v2: then the one below: %g",
          g->cpu.throttled_share);
    stat_v2("/v2/a/b/cpu.stat", 3, 1);
    check(!ask(7)->cpu.throttled.length, "v2: counters of a group made anew are no difference");
}

static void check_quota_v1(void)
{
    begin(V1);
    tree_file("/proc/7/cgroup", "9:name=systemd:/x\n4:memory:/m\n1:cpu,cpuacct:/a b/c:d\n");
    tree_file("/v1/cpu/a b/c:d/cpu.cfs_quota_us", "-1\n");
    tree_file("/v1/cpu/a b/cpu.cfs_quota_us", "150000\n");
    tree_file("/v1/cpu/a b/cpu.cfs_period_us", "100000\n");
    tree_file("/v1/cpu/a b/cpu.stat", "nr_periods 1\nnr_throttled 1\nthrottled_time 500\n");
    const struct cgroup *g = ask(7);
    check(g && is(g->cpu.path, "/a b/c:d") && is(g->cpu.tightest, "/a b") && g->cpu.cpus == 1.5,
          "v1: quota above, names with blanks and colons: %g", g->cpu.cpus);
    tree_file("/v1/cpu/a b/cpu.stat", "nr_periods 3\nnr_throttled 2\nthrottled_time 900\n");
    g = ask(7);
    check(g->cpu.throttled_ns == 400 && g->cpu.throttled_share == 0.5, "v1: throttled time is in ns: %llu",
          (unsigned long long)g->cpu.throttled_ns);
    check(!g->memory.known && is(g->memory.path, "/m"),
          "v1: a group without a directory is not known, but named");
}

static void group_v2(const char *path, const char *max, unsigned long long current, const char *swap_max)
{
    char file[128];

    snprintf(file, sizeof file, "%s/memory.max", path);
    tree_file(file, max);
    snprintf(file, sizeof file, "%s/memory.high", path);
    tree_file(file, "max\n");
    snprintf(file, sizeof file, "%s/memory.current", path);
    number(file, current);
    snprintf(file, sizeof file, "%s/memory.stat", path);
    tree_file(file, STAT_V2);
    snprintf(file, sizeof file, "%s/memory.swap.max", path);
    tree_file(file, swap_max);
    snprintf(file, sizeof file, "%s/memory.swap.current", path);
    number(file, MIB);
    snprintf(file, sizeof file, "%s/memory.events", path);
    tree_file(file, "low 0\nhigh 0\nmax 5\noom 0\noom_kill 1\n");
}

static void check_memory_v2(void)
{
    begin(V2);
    tree_file("/proc/7/cgroup", "0::/a/b/c\n");
    tree_file("/proc/8/cgroup", "0::/free\n");
    tree_file("/v2/free/cgroup.procs", "");
    group_v2("/v2/a", "209715200\n", 150 * MIB, "10485760\n");
    group_v2("/v2/a/b", "max\n", 100 * MIB, "max\n");
    group_v2("/v2/a/b/c", "104857600\n", 66 * MIB, "max\n");
    const struct cgroup *g = ask(7);
    check(g->memory.known && is(g->memory.tightest, "/a/b/c"), "v2: the group with the least headroom: %.*s",
          (int)g->memory.tightest.length, g->memory.tightest.text);
    check(g->memory.used == 50 * MIB, "v2: page cache and slab are not used: %llu MiB",
          (unsigned long long)(g->memory.used / MIB));
    check(g->memory.swap_room == 9 * MIB && g->memory.headroom == 59 * MIB,
          "v2: swap takes what the group above leaves: %llu MiB",
          (unsigned long long)(g->memory.swap_room / MIB));
    check(!g->memory.at_limit && g->memory.oom_kills == 1 && !g->memory.since_known, "v2: not at its limit");
    number("/v2/a/memory.current", 199 * MIB);
    tree_file("/v2/a/memory.events", "low 0\nhigh 0\nmax 45\noom 0\noom_kill 3\n");
    tree_file("/v2/a/memory.swap.max", "0\n");
    g = ask(7);
    check(is(g->memory.tightest, "/a") && g->memory.at_limit && g->memory.headroom == 17 * MIB,
          "v2: when that above fills, it is that: %llu MiB", (unsigned long long)(g->memory.headroom / MIB));
    check(g->memory.since_known && is(g->memory.reclaiming, "/a") && g->memory.reclaims_since == 40 &&
              g->memory.reclaim_limit == 200 * MIB && g->memory.oom_kills_since == 2,
          "v2: and it reclaims at its limit: %llu times", (unsigned long long)g->memory.reclaims_since);
    check(!ask(7)->memory.reclaiming.length, "v2: what counts no more, reclaims no more");
    tree_file("/v2/a/b/memory.high", "83886080\n");
    ask(7);
    tree_file("/v2/a/b/memory.events", "low 0\nhigh 9\nmax 5\noom 0\noom_kill 1\n");
    g = ask(7);
    check(is(g->memory.reclaiming, "/a/b") && g->memory.reclaim_limit == 80 * MIB &&
              is(g->memory.tightest, "/a"),
          "v2: memory.high makes a group reclaim, but kills no process");
    tree_file("/proc/sys/vm/swappiness", "0\n");
    tree_file("/v2/a/memory.swap.max", "max\n");
    check(ask(7)->memory.swap_room == 0, "v2: with vm.swappiness=0 a group does not swap");
    g = ask(8);
    check(g->memory.known && !g->memory.tightest.length, "v2: without a limit there is none");
}

static void check_memory_v1(void)
{
    begin(V1);
    tree_file("/proc/7/cgroup", "4:memory:/a/b\n1:cpu,cpuacct:/\n0::/x\n");
    number("/v1/me mory/memory.limit_in_bytes", 9223372036854771712ull);
    number("/v1/me mory/a/memory.limit_in_bytes", 100 * MIB);
    number("/v1/me mory/a/memory.usage_in_bytes", 90 * MIB);
    number("/v1/me mory/a/memory.failcnt", 3);
    tree_file("/v1/me mory/a/memory.stat",
              "inactive_file 1\ntotal_inactive_file 10485760\ntotal_active_file 20971520\n");
    tree_file("/v1/me mory/a/b/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 4\n");
    number("/v1/me mory/a/b/memory.limit_in_bytes", 9223372036854771712ull);
    const struct cgroup *g = ask(7);
    check(is(g->memory.path, "/a/b") && is(g->memory.tightest, "/a") && g->memory.used == 60 * MIB &&
              g->memory.oom_kills == 4,
          "v1: the group above has the limit: used %llu MiB", (unsigned long long)(g->memory.used / MIB));
    check(g->memory.headroom == 60 * MIB, "v1: and the host's 20 MiB of swap: %llu MiB",
          (unsigned long long)(g->memory.headroom / MIB));
    number("/v1/me mory/a/memory.memsw.limit_in_bytes", 110 * MIB);
    number("/v1/me mory/a/memory.memsw.usage_in_bytes", 95 * MIB);
    check(ask(7)->memory.headroom == 45 * MIB, "v1: of which the limit of memory and swap leaves five");
    number("/v1/me mory/a/memory.swappiness", 0);
    number("/v1/me mory/a/memory.failcnt", 8);
    number("/v1/me mory/a/memory.memsw.failcnt", 2);
    g = ask(7);
    check(g->memory.headroom == 40 * MIB, "v1: with swappiness 0 none: %llu MiB",
          (unsigned long long)(g->memory.headroom / MIB));
    check(is(g->memory.reclaiming, "/a") && g->memory.reclaims_since == 7,
          "v1: its failures to charge are counted");
    tree_file("/v1/me mory/a/memory.stat",
              V1_STAT "total_workingset_refault_anon 2\ntotal_workingset_refault_file 70\n");
    check(!ask(7)->memory.reclaiming.length, "v1: refaults below the limit may be the host's doing");
    number("/v1/me mory/a/memory.usage_in_bytes", 100 * MIB);
    tree_file("/v1/me mory/a/memory.stat",
              V1_STAT "total_workingset_refault_anon 3\ntotal_workingset_refault_file 75\n");
    g = ask(7);
    check(is(g->memory.reclaiming, "/a") && g->memory.refaults_since == 6 && !g->memory.reclaims_since,
          "v1: at the limit they are its own: %llu", (unsigned long long)g->memory.refaults_since);
    tree_file("/v1/me mory/a/memory.stat", V1_STAT "total_workingset_refault 5\n");
    ask(7);
    tree_file("/v1/me mory/a/memory.stat", V1_STAT "total_workingset_refault 8\n");
    check(ask(7)->memory.refaults_since == 3, "v1: as kernels before 5.9 write them");
    number("/v1/me mory/a/memory.use_hierarchy", 0);
    check(!ask(7)->memory.tightest.length, "v1: a group without use_hierarchy does not limit those below");
}

static void check_hybrid(void)
{
    begin("/proc/self/mountinfo",
          "30 23 0:30 / /cpu rw - cgroup cgroup rw,cpu\n32 27 0:32 / /u rw - cgroup2 none rw\n");
    tree_file("/proc/7/cgroup", "2:memory:/hidden\n1:cpu:/a\n0::/svc/x\n");
    tree_file("/cpu/a/cpu.cfs_quota_us", "10000\n");
    tree_file("/cpu/a/cpu.cfs_period_us", "20000\n");
    tree_file("/u/svc/x/memory.max", "5\n");
    tree_file("/u/svc/x/memory.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=4000\n");
    const struct cgroup *g = ask(7);
    check(g->cpu.cpus == 0.5 && is(g->cpu.tightest, "/a"), "hybrid: the CPU is in version 1");
    check(!g->memory.known, "hybrid: a hierarchy that is mounted nowhere we see is not known");
    check(is(g->unified, "/svc/x") && g->pressure[PRESSURE_MEMORY].some_us == 4000 &&
              !g->pressure[PRESSURE_IO].known,
          "hybrid: pressure is in version 2");
    tree_file("/u/svc/x/memory.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=104000\n");
    g = ask(7);
    double pct =
        pressure_pct(&g->earlier[PRESSURE_MEMORY], &g->pressure[PRESSURE_MEMORY], g->read_ns - g->earlier_ns);
    check(pct == 10, "hybrid: 100 ms of a second: %g %%", pct);
}

static void check_namespace(void)
{
    begin("/proc/self/mountinfo",
          "30 23 0:30 /box/1 /sub rw - cgroup2 cgroup rw\n31 23 0:30 /box/1/deeper /no rw - cgroup2 x rw\n");
    tree_file("/proc/7/cgroup", "0::/box/1/a\n");
    tree_file("/proc/8/cgroup", "0::/box/12\n");
    tree_file("/proc/9/cgroup", "0::/../other\n");
    tree_file("/proc/10/cgroup", "0::/box/1\n");
    tree_file("/sub/cpu.max", "20000 10000\n");
    tree_file("/sub/a/cpu.max", "max 10000\n");
    const struct cgroup *g = ask(7);
    check(g->cpu.known && is(g->cpu.tightest, "/box/1") && g->cpu.cpus == 2,
          "part of a hierarchy is mounted: %.*s", (int)g->cpu.tightest.length, g->cpu.tightest.text);
    check(!ask(8)->cpu.known && !ask(9)->cpu.known,
          "a sibling, or a group outside of the namespace, is not known");
    check(is(ask(10)->cpu.tightest, "/box/1"), "the group that is mounted");
    begin("/proc/self/mountinfo", "30 23 0:30 /../.. /up rw - cgroup2 cgroup rw\n");
    tree_file("/proc/7/cgroup", "0::/\n");
    tree_file("/up/cpu.max", "1 2\n");
    check(!ask(7)->cpu.known, "a mount from above our namespace has no names for us");
}

static void check_cache(void)
{
    char path[64], text[64];

    begin(V2);
    tree_file("/proc/7/cgroup", "0::/a\n");
    tree_file("/v2/a/cpu.max", "20000 10000\n");
    check(ask(7)->cpu.cpus == 2, "a quota of two CPUs");
    tree_file("/v2/a/cpu.max", "10000 10000\n");
    tree_file("/proc/7/cgroup", "0::/b\n");
    check(cgroups_of(cgroups, 7, 1, now + SECOND / 5)->cpu.cpus == 2,
          "a fifth of a second later nothing is read");
    check(is(cgroups_of(cgroups, 7, 2, now + SECOND / 5)->cpu.path, "/b"),
          "but of another process of that number");
    tree_file("/proc/8/cgroup", "0::/a\n");
    check(cgroups_of(cgroups, 8, 1, now + SECOND / 2)->cpu.cpus == 1, "half a second later it is");
    for (unsigned i = 100; i < 500; i++) {
        snprintf(path, sizeof path, "/proc/%u/cgroup", i);
        snprintf(text, sizeof text, "0::/group/%u\n", i);
        tree_file(path, text);
    }
    const struct cgroup *first = ask(100), *last;
    unsigned told = 0;
    for (unsigned i = 100; i < 500; i++, told += last != NULL)
        last = cgroups_of(cgroups, i, 1, now);
    check(told == CGROUPS_MAX && is(first->cpu.path, "/group/100"),
          "groups for one moment: %u, the first still there", told);
    check(is(ask(499)->cpu.path, "/group/499"), "in the next one there is room");
    check(cgroups_prime(cgroups, now += SECOND) == CGROUPS_MAX,
          "all processes' groups are read, as many as there may be");
    check(!ask(5), "no such process");
}

static void check_bad(void)
{
    static const char *const files[] = {
        "cpu.max",     "cpu.stat",      "memory.max",      "memory.high",         "memory.current",
        "memory.stat", "memory.events", "memory.swap.max", "memory.swap.current", "cpu.pressure"};
    static const char *const texts[] = {
        "",
        "\n",
        "garbage\n",
        "-5\n",
        "max",
        "max 0\n",
        "0 0\n",
        "5 garbage\n",
        "99999999999999999999999 1\n",
        "1 99999999999999999999999\n",
        "nr_periods 99999999999999999999999\nnr_throttled 1\nthrottled_usec 9\n",
        "inactive_file 18446744073709551615\nactive_file 18446744073709551615\n"};
    char path[128];
    unsigned asked = 0, sane = 0;

    begin(V2);
    tree_file("/proc/7/cgroup", "0::/a\n");
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        group_v2("/v2/a", "104857600\n", 60 * MIB, "max\n");
        tree_file("/v2/a/cpu.max", "50000 100000\n");
        stat_v2("/v2/a/cpu.stat", 1, 1);
        for (size_t t = 0; t < sizeof texts / sizeof *texts; t++, asked++) {
            snprintf(path, sizeof path, "/v2/a/%s", files[f]);
            tree_file(path, texts[t]);
            const struct cgroup *g = ask(7);
            sane += g && g->cpu.cpus >= 0 && g->cpu.throttled_share >= 0 && g->cpu.throttled_share <= 1 &&
                    (!g->memory.tightest.length || g->memory.known) && g->memory.used <= g->memory.usage;
        }
        tree_remove(path);
        ask(7);
    }
    check(sane == asked, "garbage in a file: %u of %u readings sane", sane, asked);
    tree_file("/v2/a/cpu.max", "garbage\n");
    check(!ask(7)->cpu.known, "a quota that is none is not known");
    tree_file("/v2/a/memory.max", "garbage\n");
    check(!ask(7)->memory.known, "nor is a limit");
    tree_remove("/v2/a");
    const struct cgroup *g = ask(7);
    check(g && !g->cpu.known && !g->memory.known && !g->pressure[PRESSURE_CPU].known,
          "a group that is gone is not known");
    static const char *const lines[] = {"",         "\n",      "::\n",   "0::\n",        "0:/a\n",
                                        "cpu:/a\n", ":::::\n", "0::a\n", "1:cpu:/no end"};
    unsigned none = 0;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        tree_file("/proc/7/cgroup", lines[i]);
        none += !ask(7);
    }
    check(none == sizeof lines / sizeof *lines, "what names no group: %u", none);
}

/* Groups in groups, far deeper than hog reads, and a path of maximal length. */
static void check_deep(void)
{
    static char text[8192], path[3 * CGROUP_DEPTH];

    begin(V2);
    for (int i = 0; i < CGROUP_DEPTH - 1; i++)
        memcpy(path + 2 * i, "/d", 2);
    snprintf(text, sizeof text, "0::%s\n", path);
    tree_file("/proc/7/cgroup", text);
    snprintf(text, sizeof text, "/v2%s/cpu.max", path);
    tree_file(text, "50000 100000\n");
    check(ask(7)->cpu.cpus == 0.5, "as deep as may be");
    snprintf(text, sizeof text, "0::%s/d\n", path);
    tree_file("/proc/7/cgroup", text);
    check(!ask(7)->cpu.known, "one more is not known");
    memset(text, 'x', sizeof text - 1);
    memcpy(text, "0::/", 4);
    text[4000] = '\n';
    text[4001] = '\0';
    tree_file("/proc/7/cgroup", text);
    check(!ask(7)->cpu.known, "a path as long as the kernel has them");
    text[4000] = 'x';
    text[4001] = 'x';
    text[sizeof text - 2] = '\n';
    tree_file("/proc/7/cgroup", text);
    check(!ask(7), "a longer one names no group");
}

static void check_no_mounts(void)
{
    begin(
        "/proc/self/mountinfo",
        "garbage\n - \n1 2 3 - cgroup2\n1 2 3 / - cgroup2 a b\n1 2 3 x y z - cgroup2 a b\n\\ \\ \\ \\ \\ -");
    tree_file("/proc/7/cgroup", "0::/a\n");
    const struct cgroup *g = ask(7);
    check(g && !g->cpu.known && !g->memory.known && is(g->cpu.path, "/a"), "no mounts: named, but not known");
    begin("/proc/self/other", "");
    tree_file("/proc/7/cgroup", "0::/a\n");
    check(ask(7) && !ask(7)->cpu.known, "nor without mountinfo");
}

/* The kernel's numbers are small: another one is no hierarchy, and none becomes one by being cut. */
static void check_numbers(void)
{
    struct cgroup_v1 list[CGROUP_V1_MOST];

    begin(V1);
    tree_file("/proc/self/cgroup", "4294967297:cpu,cpuacct:/\n\n\n4:memory:/\n");
    size_t n = cgroup_v1_read(list, tree_root);
    check(n == 1 && list[0].number == 4 && list[0].kind == CGROUP_MEMORY,
          "a hierarchy has a number of the kernel's: %zu", n);
    cgroup_v1_free(list, n);
}

int main(void)
{
    tree_begin();
    check_quota_v2();
    check_quota_v1();
    check_memory_v2();
    check_memory_v1();
    check_hybrid();
    check_namespace();
    check_cache();
    check_bad();
    check_deep();
    check_no_mounts();
    check_numbers();
    cgroups_close(cgroups);
    return done();
}
