/* SPDX-License-Identifier: GPL-2.0-only */
/* What tasks_snapshot() returns about a process, against its own account (getrusage, its CPU clocks) and
 * /proc. With the iterator, and with /proc as if there were none. */
#include "source/tasks/tasks.h"
#include <pthread.h>
#include <string.h>
#include <unistd.h>
#include "base/cpus.h"
#include "host/names.h"
#include "host/pidns.h"
#include "host/targets.h"
#include "tests/live/worker.h"
#include "tests/live/one_source.h"

#define WAIT_NS 20000000000 /* for a snapshot, at most: in emulation the first one is expensive */
#define MANY    10000
#define STACK   16384

static struct run_options options;
static struct targets targets;
static struct pidns pidns;
static const char *mode;

static uint64_t key_of(pid_t pid, int thread)
{
    struct process process = {0};

    process_read((uint32_t)pid, (uint32_t)thread, &process);
    return key_make((uint32_t)pid, (uint32_t)thread, process.start_ns);
}

/* A key from /proc has a resolution of 10 ms. */
struct search {
    uint32_t process, thread;
    const struct task_sums *found;
};

static void compare(void *context, const struct task_sums *sums)
{
    struct search *search = context;

    if (key_process(sums->key) == search->process && key_thread(sums->key) == search->thread)
        search->found = sums;
}

static struct task_sums sums_of(const struct tasks *t, pid_t pid, int thread)
{
    struct search search = {.process = (uint32_t)pid, .thread = (uint32_t)thread};
    static const struct task_sums none = {.busiest_thread_pct = -2};

    tasks_each(t, compare, &search);
    if (search.found && tasks_find(t, search.found->key) != search.found)
        check(false, "%s: what is walked over is found", mode);
    return search.found ? *search.found : none;
}

/* As soon as a snapshot is allowed. */
static bool look(struct tasks *t, pid_t pid, int thread)
{
    uint64_t begin = now_ns(CLOCK_MONOTONIC);

    do {
        tasks_want(t, key_of(pid, thread));
        int looked = tasks_snapshot(t, now_ns(CLOCK_MONOTONIC));
        if (looked)
            return looked > 0;
        rest(1000000);
    } while (now_ns(CLOCK_MONOTONIC) - begin < WAIT_NS);
    return false;
}

static void check_faults(struct tasks *t, const struct worker *worker, const char *what, char command)
{
    struct rusage before = message(worker, 0).usage;
    bool looked = look(t, worker->pid, 0);
    struct rusage after = message(worker, command).usage;
    uint64_t minor = (uint64_t)(after.ru_minflt - before.ru_minflt);
    uint64_t major = (uint64_t)(after.ru_majflt - before.ru_majflt);

    looked = looked && look(t, worker->pid, 0);
    struct task_sums sums = sums_of(t, worker->pid, 0);
    check(looked && sums.span_ns && sums.minor == minor && sums.major == major && minor,
          "%s: %s: faults are those of getrusage: minor %llu of %llu, major %llu of %llu", mode, what,
          (unsigned long long)sums.minor, (unsigned long long)minor, (unsigned long long)sums.major,
          (unsigned long long)major);
}

static uint64_t number_in(pid_t pid, const char *file, const char *name)
{
    char path[64], text[4096];
    uint64_t value = UINT64_MAX;

    snprintf(path, sizeof path, "/proc/%d/%s", pid, file);
    long n = file_read(path, text, sizeof text);
    if (n > 0)
        status_number(text, (size_t)n, name, 0, &value);
    return value;
}

static void check_io(struct tasks *t, const struct worker *worker)
{
    uint64_t before[2], after[2];

    message(worker, 0);
    bool looked = look(t, worker->pid, 0);
    before[0] = number_in(worker->pid, "io", "read_bytes");
    before[1] = number_in(worker->pid, "io", "write_bytes");
    struct rusage usage = message(worker, 0).usage, later = message(worker, 'i').usage;
    after[0] = number_in(worker->pid, "io", "read_bytes");
    after[1] = number_in(worker->pid, "io", "write_bytes");
    looked = looked && look(t, worker->pid, 0);
    struct task_sums sums = sums_of(t, worker->pid, 0);
    check(looked && sums.io_known && sums.read_bytes == after[0] - before[0] &&
              sums.write_bytes == after[1] - before[1],
          "%s: storage I/O is that of /proc/PID/io: %llu read, %llu written", mode,
          (unsigned long long)sums.read_bytes, (unsigned long long)sums.write_bytes);
    check(sums.major == (uint64_t)(later.ru_majflt - usage.ru_majflt),
          "%s: major faults are those of getrusage: %llu", mode, (unsigned long long)sums.major);
}

/* Pages that CPUs batch, for three kinds of memory. */
static uint64_t memory_error_kib(void)
{
    uint64_t cpus = (uint64_t)cpus_possible(), batch = 2 * cpus > 32 ? 2 * cpus : 32;

    return 3 * cpus * batch * PAGE / 1024;
}

static bool near(uint64_t a, uint64_t b, uint64_t error)
{
    return (a > b ? a - b : b - a) <= error;
}

static void check_memory(struct tasks *t, const struct worker *worker)
{
    uint64_t error = memory_error_kib();

    bool looked = look(t, worker->pid, 0);
    message(worker, 'M');
    looked = looked && look(t, worker->pid, 0);
    struct task_sums sums = sums_of(t, worker->pid, 0);
    uint64_t rss = number_in(worker->pid, "status", "VmRSS");
    check(looked && sums.memory_known && near(sums.rss_kib, rss, error),
          "%s: RSS is that of /proc: %llu KiB of %llu", mode, (unsigned long long)sums.rss_kib,
          (unsigned long long)rss);
    check(near((uint64_t)sums.rss_delta_kib, KEEP_MIB << 10, 2 * error),
          "%s: and has grown by 64 MiB: %lld KiB", mode, (long long)sums.rss_delta_kib);
    check(near(sums.swap_kib, number_in(worker->pid, "status", "VmSwap"), error), "%s: so is swapped memory",
          mode);
    message(worker, 'm');
    looked = looked && look(t, worker->pid, 0);
    sums = sums_of(t, worker->pid, 0);
    check(looked && near((uint64_t)-sums.rss_delta_kib, KEEP_MIB << 10, 2 * error),
          "%s: and has shrunk again: %lld KiB", mode, (long long)sums.rss_delta_kib);
}

/* One of its two threads burns, the other one half as much. */
static void check_busiest(struct tasks *t, const struct worker *worker)
{
    message(worker, 0);
    bool looked = look(t, worker->pid, 0);
    uint64_t begin = now_ns(CLOCK_MONOTONIC);
    struct told told = message(worker, 'b');
    looked = looked && look(t, worker->pid, 0);
    double span = (double)(now_ns(CLOCK_MONOTONIC) - begin), pct = 100 * (double)told.ran / span;
    struct task_sums sums = sums_of(t, worker->pid, 0);

    check(looked && sums.busiest_thread_pct > pct - 4 && sums.busiest_thread_pct < pct + 4,
          "%s: the busiest thread has what its CPU clock says: %.1f %% of a CPU of %.1f %%", mode,
          sums.busiest_thread_pct, pct);
}

/* For a process younger than 10 ms, /proc does not give its start precisely. */
static void check_born(struct tasks *t)
{
    look(t, getpid(), 0);
    rest(30000000);
    struct worker worker = hire();
    struct rusage usage = message(&worker, 't').usage;
    bool looked = look(t, worker.pid, 0);
    struct task_sums sums = sums_of(t, worker.pid, 0);

    check(looked && sums.span_ns && sums.minor == (uint64_t)usage.ru_minflt &&
              sums.major == (uint64_t)usage.ru_majflt,
          "%s: a process born between two snapshots has all its counts: minor %llu of %ld", mode,
          (unsigned long long)sums.minor, usage.ru_minflt);
    dismiss(&worker);
    looked = look(t, worker.pid, 0);
    sums = sums_of(t, worker.pid, 0);
    check(looked && sums.busiest_thread_pct == -2, "%s: a process that is gone is not there", mode);
}

static void check_kernel(struct tasks *t)
{
    struct process process;
    bool own, other;

    if (process_read(2, 0, &process) || process.comm_length != 8 || memcmp(process.comm, "kthreadd", 8)) {
        skip("kernel threads", "needs ROOT: they are not in this PID namespace");
        return;
    }
    own = look(t, getpid(), 0) && !sums_of(t, getpid(), 0).kernel;
    other = look(t, 2, 0) && sums_of(t, 2, 0).kernel && !sums_of(t, 2, 0).memory_known;
    check(own && other, "%s: a kernel thread is one, and this process is not", mode);
}

static void check_threads(struct tasks *t, const struct worker *worker)
{
    struct told before = message(worker, 'l');
    bool looked = look(t, worker->pid, before.tid);
    struct told after = message(worker, 'l');

    looked = looked && look(t, worker->pid, before.tid);
    struct task_sums sums = sums_of(t, worker->pid, before.tid);
    uint64_t minor = (uint64_t)(after.of_thread.ru_minflt - before.of_thread.ru_minflt);
    check(looked && sums.threads == 1 && sums.minor >= minor && sums.minor < minor + 5 && minor >= 700,
          "%s: with -t a thread has its own faults: %llu of %llu", mode, (unsigned long long)sums.minor,
          (unsigned long long)minor);
}

static void *sleep_on(void *barrier)
{
    pthread_barrier_wait(barrier);
    pthread_barrier_wait(barrier);
    return NULL;
}

static uint64_t most_threads(void)
{
    char text[64];

    return file_read("/proc/sys/kernel/threads-max", text, sizeof text) > 0 ? strtoull(text, NULL, 10) : 0;
}

/* As many as there is memory for. */
static void check_many(struct tasks *t)
{
    static pthread_t threads[MANY];
    pthread_attr_t attributes;
    pthread_barrier_t barrier;
    uint64_t free_kib = number_in(getpid(), "../meminfo", "MemAvailable");
    uint64_t allowed = most_threads() / 2;
    unsigned most = MANY, n = 0;

    if (free_kib / 64 < most)
        most = (unsigned)(free_kib / 64);
    if (allowed < most)
        most = (unsigned)allowed;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK);
    pthread_barrier_init(&barrier, NULL, most + 1);
    while (n < most && !pthread_create(&threads[n], &attributes, sleep_on, &barrier))
        n++;
    if (n < most) {
        check(false, "%s: %u threads begin: %u did", mode, most, n);
        exit(done());
    }
    pthread_barrier_wait(&barrier);
    uint64_t used = now_ns(CLOCK_THREAD_CPUTIME_ID);
    bool looked = look(t, getpid(), 0);
    used = now_ns(CLOCK_THREAD_CPUTIME_ID) - used;
    struct task_sums sums = sums_of(t, getpid(), 0);
    check(looked && sums.threads == n + 1 && !sources_lost(&opened),
          "%s: %u threads are seen: %u, by a snapshot of %.3f ms", mode, n + 1, sums.threads,
          (double)used / 1e6);
    pthread_barrier_wait(&barrier);
    for (unsigned i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
}

/* Snapshots as often as requested would take more than their share of the time. */
static void check_price(struct tasks *t)
{
    look(t, getpid(), 0); /* the previous one may have been expensive */
    uint64_t begin = now_ns(CLOCK_MONOTONIC), key = key_of(getpid(), 0), used = 0;
    unsigned looks = 0, asked = 0;

    while (now_ns(CLOCK_MONOTONIC) - begin < 1000000000) {
        uint64_t before = now_ns(CLOCK_THREAD_CPUTIME_ID);
        tasks_want(t, key);
        if (tasks_snapshot(t, now_ns(CLOCK_MONOTONIC)) == 1) {
            looks++;
            used += now_ns(CLOCK_THREAD_CPUTIME_ID) - before;
        }
        asked++;
        rest(500000);
    }
    check(looks && looks < asked && used < 25000000,
          "%s: snapshots take a hundredth of the time: %u of %u requested, in %.3f ms of a second", mode,
          looks, asked, (double)used / 1e6);
}

static struct tasks *open_by(const char *hook, bool threads)
{
    static struct source_context context = {.options = &options, .targets = &targets, .pidns = &pidns};
    struct hook_report hooks[MAX_HOOKS] = {0};
    struct error why = {""};

    mode = hook;
    options.threads = threads;
    options.without = strcmp(hook, "iter") ? "iter" : NULL;
    int err = source_open(&context, &tasks_source, 0, hooks, &why);
    struct tasks *t = tasks_of(&context);
    if (!err && !strcmp(hook, "iter") && !tasks_sees_all(t) && access("/sys/kernel/btf/vmlinux", R_OK)) {
        skip("by an iterator", "needs BTF: this kernel does not describe its types");
        sources_close(&opened);
        return NULL;
    }
    const struct choice *choice = &hooks[0].choice;
    bool is_so = !err && !strcmp(hooks[0].hook, hook);
    check(is_so, "%s: opens%s%s", hook, is_so ? "" : ": ",
          is_so              ? ""
          : choice->nrefused ? choice->refused[0].reason.text
                             : why.text);
    return t;
}

static void check_by(const char *hook)
{
    struct tasks *t = open_by(hook, false);
    if (!t)
        return;
    struct worker worker = hire();
    message(&worker, 'f');
    check_faults(t, &worker, "one thread", 'f');
    check_faults(t, &worker, "threads that are gone", 't');
    message(&worker, 'L');
    message(&worker, 'l');
    check_faults(t, &worker, "threads that live", 'l');
    check_io(t, &worker);
    check_memory(t, &worker);
    check_busiest(t, &worker);
    check_born(t);
    check_kernel(t);
    check_many(t);
    check_price(t);
    sources_close(&opened);
    t = open_by(hook, true);
    if (t)
        check_threads(t, &worker);
    sources_close(&opened);
    dismiss(&worker);
}

int main(void)
{
    pidns_read(&pidns);
    check_by("iter");
    check_by("proc");
    return done();
}
