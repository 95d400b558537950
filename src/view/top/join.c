// SPDX-License-Identifier: GPL-2.0-only
/* Joins all sources of `top` into one table of processes. */
#include <errno.h>
#include <math.h>
#include "sched.types.h"
#include "source/tasks/stuck.h"
#include "view/top/oom_forecast.h"
#include "view/top/state.h"

static int join_runs(struct top *top)
{
    const struct tally *tally = sched_tally(top->sched);

    for (size_t i = 0; i < tally->capacity; i++) {
        const struct tally_entry *entry = &tally->table[i];
        struct judged_process *process =
            entry->key && entry->weight > 0 ? process_table_at(&top->process_table, entry->key) : NULL;
        if (process)
            process->now.run = (double)entry->weight;
    }
    return top->process_table.capacity || !tally->used ? 0 : -ENOMEM;
}

static void join_share(void *context, uint64_t key, int64_t ns, int64_t stolen_ns)
{
    const struct top *top = context;
    struct judged_process *process = process_table_find(&top->process_table, key);

    if (!process)
        return;
    process->now.busiest = fmax(process->now.busiest, (double)ns);
    process->now.stolen += (double)stolen_ns;
}

static void join_pair(struct top *top, const struct pair *pair)
{
    bool quota = pair->aggressor == HOG_THROTTLED;

    if (!pair->victim || pair->ns <= 0 || (!quota && waits_no_process(pair->aggressor)))
        return;
    struct judged_process *process =
        process_table_at(&top->process_table, quota ? pair->victim : pair->aggressor);
    if (process && quota) {
        process->now.throttled += (double)pair->ns;
        process->now.wait = fmax(0, process->now.wait - (double)pair->ns);
    } else if (process && pair->aggressor == pair->victim) {
        process->now.own_wait += (double)pair->ns;
    } else if (process) {
        process->now.caused += (double)pair->ns;
    }
}

static void join_waits(struct top *top)
{
    const struct waits *waits = sched_waits(top->sched);

    if (!waits)
        return;
    waits_each_share(waits, join_share, top);
    const struct pairs *victims = waits_victims(waits), *pairs = waits_pairs(waits);
    for (size_t i = 0; i < victims->capacity; i++) {
        const struct pair *sum = &victims->table[i];
        struct judged_process *process =
            sum->victim && sum->ns > 0 ? process_table_at(&top->process_table, sum->victim) : NULL;
        if (!process)
            continue;
        process->now.wait = (double)sum->ns;
        process->waits = sum->count;
        process->most_wait_ns = sum->most_ns;
    }
    for (size_t i = 0; i < pairs->capacity; i++)
        join_pair(top, &pairs->table[i]);
}

static void join_stalls(struct top *top)
{
    const struct waits *waits = sched_waits(top->sched);
    const struct pairs *blocked_time = waits ? waits_blocked_all(waits) : NULL;

    for (size_t i = 0; blocked_time && i < blocked_time->capacity; i++) {
        const struct pair *blocked = &blocked_time->table[i];
        struct judged_process *process = blocked->victim && blocked->ns > 0
                                             ? process_table_at(&top->process_table, blocked->victim)
                                             : NULL;
        if (!process)
            continue;
        switch ((enum blocked)(blocked->aggressor - 1)) {
        case BLOCKED_IO:
            process->now.io += (double)blocked->ns;
            process->io_sleeps += blocked->count;
            break;
        case BLOCKED_MEMORY:
            process->now.memory += (double)blocked->ns;
            break;
        case BLOCKED_LOCK:
            process->now.lock += (double)blocked->ns;
            break;
        case BLOCKED_TIMED:
            process->timed = (double)blocked->ns;
            break;
        case BLOCKED_MMAP:
            process->now.lock += (double)blocked->ns;
            process->mmap = (double)blocked->ns;
            break;
        case BLOCKED_SYNC:
            process->now.io += (double)blocked->ns;
            process->io_sleeps += blocked->count;
            process->sync = (double)blocked->ns;
            break;
        case BLOCKED_KINDS:
            break;
        }
    }
}

#define HOLDS                                                                                                \
    0.25 /* of the window: a process that runs for less has no thread that holds a lock and runs             \
          */

/* Threads that ask for a futex again and again wait for a lock if one of them has it: pools that poll do not
 * run meanwhile. */
static void join_timed(struct top *top)
{
    for (size_t i = 0; i < top->process_table.capacity; i++) {
        struct judged_process *process = &top->process_table.table[i];
        if (process->key && process->timed > 0 && process->now.run >= HOLDS * top->process_table.window)
            process->now.lock += process->timed;
    }
}

/* A major fault sleeps on I/O. Where the kernel does not distinguish it from a system call (before 5.15),
 * memory gets the fraction of the time that major faults are of the sleeps. */
static void move_faults(const struct top *top, struct judged_process *process)
{
    const struct waits *waits = sched_waits(top->sched);

    if (!waits || waits_blocked_known(waits, BLOCKED_LOCK) || process->io_sleeps <= 0)
        return;
    double ns = process->now.io * fmin(1, process->now.majors / (double)process->io_sleeps);
    process->now.io -= ns;
    process->now.memory += ns;
}

/* Snapshots can be rarer than windows: their rates stand for the window. A task born since has a shorter
 * span.
 */
static void join_task(void *context, const struct task_sums *task)
{
    struct top *top = context;
    struct judged_process *process = task->memory_known && task->rss_delta_kib > 0
                                         ? process_table_at(&top->process_table, task->key)
                                         : process_table_find(&top->process_table, task->key);

    if (!process)
        return;
    double span = (double)task->span_ns, within = fmin(span, top->process_table.window);
    if (span > 0) {
        process->now.majors = (double)task->major * within / span;
        move_faults(top, process);
    }
    process->now.busiest = fmax(process->now.busiest, task->busiest_thread_pct / 100 * within);
    /* Falls back to the sum where it is unknown by CPU. */
    if (task->threads == 1 && !sched_waits(top->sched))
        process->now.busiest = fmin(process->now.run, top->process_table.window);
}

/* The thread sleeps since before the snapshot, so for all of the window after that. What the scheduler
 * counted of this sleep as something else is taken back. */
static void join_stuck(void *context, const struct stuck *stuck)
{
    struct top *top = context;
    struct judged_process *process = process_table_at(&top->process_table, stuck->key);
    uint64_t asleep = top->now > stuck->since ? top->now - stuck->since : 0;

    if (!process)
        return;
    double ns = fmin((double)asleep, top->process_table.window);
    struct times *now = &process->now;
    now->blocked += ns;
    if (stuck->kind == STUCK_MMAP_LOCK)
        now->lock -= fmin(now->lock, ns);
    else if (now->io > 0)
        now->io -= fmin(now->io, ns);
    if (process->blocked_ns < asleep)
        process->blocked_ns = asleep;
}

/* A snapshot that fails, or costs too much now, leaves the one before. */
static void join_look(struct top *top)
{
    if (!tasks_sees_all(top->tasks))
        for (size_t i = 0; i < top->process_table.capacity; i++)
            if (top->process_table.table[i].key && top->process_table.table[i].key != HOG_KEY_OUTSIDE)
                tasks_want(top->tasks, top->process_table.table[i].key);
    if (tasks_snapshot(top->tasks, top->now) == 1)
        top->looked = top->now;
}

const struct cgroup *top_group(const struct top *top, uint64_t key)
{
    return top->cgroups && key != HOG_KEY_OUTSIDE
               ? cgroups_of(top->cgroups, key_process(key), key & ((1u << HOG_KEY_THREAD) - 1), top->now)
               : NULL;
}

void top_begin(struct top *top)
{
    if (top->tasks)
        join_look(top);
    if (top->cgroups)
        cgroups_prime(top->cgroups, top->now);
    oom_forecast_update(top->oom_forecast, top);
    pressures_read(&top->pressures.files, top->pressures.now);
}

int top_join(struct top *top, double window)
{
    const struct thresholds *thresholds = top->context->options->thresholds;

    if (process_table_begin(&top->process_table, window, thresholds->value[SPAN_S] * 1e9) || join_runs(top))
        return -ENOMEM;
    join_waits(top);
    join_stalls(top);
    join_timed(top);
    if (top->tasks) {
        join_look(top);
        tasks_each(top->tasks, join_task, top);
        if (tasks_stuck(top->tasks))
            stuck_each(tasks_stuck(top->tasks), join_stuck, top);
    }
    process_table_end(&top->process_table);
    oom_forecast_update(top->oom_forecast, top);
    return 0;
}
