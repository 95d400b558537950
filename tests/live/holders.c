/* SPDX-License-Identifier: GPL-2.0-only */
/* What a process holds, its peak and its growth in a window, against /proc and what it did itself. With each
 * way to see changes, and with only /proc. */
#include "source/memory/mem_table.h"
#include <string.h>
#include <sys/sysinfo.h>
#include "host/names.h"
#include "host/pidns.h"
#include "host/targets.h"
#include "tests/live/worker.h"
#include "tests/live/one_source.h"

#define ALL       8192
#define SPIKE_KIB 20000
#define KEPT_KIB  (KEEP_MIB * 1024)

static struct run_options options;
static struct targets targets;
static struct pidns pidns;
static struct window window;
static const char *mode;
static struct mem_process *top[ALL];

static void end_window(void)
{
    struct error why = {""};

    sources_flip(&opened);
    window.begin_mono = window.end_mono;
    window.end_mono = now_ns(CLOCK_MONOTONIC);
    rest(100000);
    if (sources_collect(&opened, &window, &why))
        check(false, "%s: a window is collected: %s", mode, why.text);
}

/* Its row of the window that has just ended. */
static struct mem_process row_of(struct mem_table *h, pid_t pid)
{
    static const struct mem_process none;
    size_t n = mem_table_top(h, top, ALL);

    for (size_t i = 0; i < n; i++)
        if (key_process(top[i]->key) == (uint32_t)pid)
            return *top[i];
    return none;
}

/* Pages that CPUs or threads batch, and what the process has in addition. */
static uint64_t slack(void)
{
    uint64_t cpus = (uint64_t)get_nprocs_conf();

    return 3 * 4 * (cpus * (2 * cpus < 32 ? 32 : 2 * cpus) + 64);
}

static bool is_near(int64_t value, int64_t truth)
{
    return value >= truth - (int64_t)slack() && value <= truth + (int64_t)slack();
}

static bool is_as_proc(const struct mem_process *row, pid_t pid)
{
    struct mem_levels levels;

    return !mem_read_status((uint32_t)pid, &levels) && row->read && row->now.rss == levels.rss &&
           row->now.anon == levels.anon && row->now.file == levels.file && row->now.vm == levels.vm &&
           levels.rss;
}

static void check_now(struct mem_table *h, const struct worker *worker, bool marks)
{
    uint64_t peak = 0, peak_vm = 0;
    int64_t delta = 1;

    message(worker, 0);
    end_window();
    row_of(h, worker->pid); /* the reading is compared with that */
    rest(20000000);
    message(worker, 0);
    end_window();
    struct mem_process row = row_of(h, worker->pid);
    check(is_as_proc(&row, worker->pid), "%s: what it holds is what /proc says: %llu KiB", mode,
          (unsigned long long)row.now.rss);
    check(mem_process_delta_rss(&row, &delta) && delta == 0, "%s: it does not grow", mode);

    message(worker, 'f');
    end_window();
    row = row_of(h, worker->pid);
    bool known = mem_table_peak_rss(h, &row, &peak);
    check((known || !marks) && (!known || is_near((int64_t)peak, (int64_t)row.now.rss + SPIKE_KIB)),
          "%s: memory that came and went is a peak: %llu KiB, expected %llu", mode, (unsigned long long)peak,
          (unsigned long long)row.now.rss);
    known = mem_table_peak_vm(h, &row, &peak_vm);
    check(!known || peak_vm == row.now.vm + SPIKE_KIB, "%s: and so is mapped memory: %llu KiB, expected %llu",
          mode, (unsigned long long)peak_vm, (unsigned long long)row.now.vm);
    check(is_as_proc(&row, worker->pid), "%s: it is gone by then", mode);
}

static void check_growth(struct mem_table *h, const struct worker *worker)
{
    uint64_t peak = 0;
    int64_t delta = 0;

    message(worker, 'M');
    end_window();
    struct mem_process row = row_of(h, worker->pid);
    bool known = mem_process_delta_rss(&row, &delta);
    check(known && is_near(delta, KEPT_KIB), "%s: it has grown: by %lld KiB", mode, (long long)delta);
    check(is_as_proc(&row, worker->pid), "%s: to what /proc says", mode);
    message(worker, 'm');
    end_window();
    row = row_of(h, worker->pid);
    known = mem_process_delta_rss(&row, &delta);
    check(known && is_near(delta, -KEPT_KIB), "%s: it has shrunk: by %lld KiB", mode, (long long)delta);
    mem_table_peak_rss(h, &row, &peak);
    check(is_near((int64_t)peak, (int64_t)row.now.rss + KEPT_KIB), "%s: the peak is what it was: %llu KiB",
          mode, (unsigned long long)peak);
}

/* One that existed at the beginning of the window, and one that did not. */
static void check_end(struct mem_table *h, const struct worker *worker, bool marks)
{
    struct worker brief = hire();
    uint64_t peak = 0;

    message(&brief, 'M');
    dismiss(&brief);
    dismiss(worker);
    end_window();
    struct mem_process row = row_of(h, worker->pid);
    check(row.gone && !row.now.rss && row.now_known && row.before.rss,
          "%s: a process that has ended holds nothing", mode);
    row = row_of(h, brief.pid);
    mem_table_peak_rss(h, &row, &peak);
    check(marks ? row.gone && is_near((int64_t)peak, KEPT_KIB) : !row.key,
          "%s: a process that lived within the window has a row if changes are seen: %llu KiB", mode,
          (unsigned long long)peak);
    end_window();
    check(!row_of(h, worker->pid).key, "%s: and none in the next window", mode);
}

static bool says(const struct hook_report *hooks, const char *what, const char *hook)
{
    for (int i = 0; i < MAX_HOOKS && hooks[i].what; i++)
        if (!strcmp(hooks[i].what, what))
            return hook ? hooks[i].hook && !strcmp(hooks[i].hook, hook) : !hooks[i].hook;
    return false;
}

static void check_by(const char *without, const char *change, const char *snapshot)
{
    static struct hook_report hooks[MAX_HOOKS];
    struct source_context context = {
        .options = &options, .targets = &targets, .pidns = &pidns, .names = names_open(&pidns)};
    struct error why = {""};

    mode = change ? change : "no hook";
    options.without = without;
    memset(hooks, 0, sizeof hooks);
    memset(&window, 0, sizeof window);
    int err = source_open(&context, &memory_source, 0, hooks, &why);
    check(!err && says(hooks, "change", change) && says(hooks, "snapshot", snapshot),
          "%s: opens, with snapshots by %s%s%s", mode, snapshot, err ? ": " : "", why.text);
    if (!err) {
        struct mem_table *h = mem_table_of(&context);
        struct worker worker = hire();
        check_now(h, &worker, change != NULL);
        check_growth(h, &worker);
        check_end(h, &worker, change != NULL);
    }
    sources_close(&opened);
    names_close(context.names);
}

int main(void)
{
    pidns_read(&pidns);
    if (access("/sys/kernel/btf/vmlinux", R_OK))
        skip("by type data", "needs BTF: this kernel does not describe its types");
    else
        check_by(NULL, "tp_btf", "iter");
    check_by("tp_btf", "tracepoint", "proc");
    check_by("tp_btf,tracepoint", NULL, "proc");
    return done();
}
