// SPDX-License-Identifier: GPL-2.0-only
/* All sources of the view `top` in one table of processes. */
#include <errno.h>
#include <math.h>
#include "cpu.types.h"
#include "metric/outlooks.h"
#include "metric/top.h"

static int join_runs(struct top *top)
{
    const struct tally *tally = oncpu_tally(top->oncpu);

    for (size_t i = 0; i < tally->capacity; i++) {
        const struct tally_entry *entry = &tally->table[i];
        struct subject *subject =
            entry->key && entry->weight > 0 ? subjects_at(&top->subjects, entry->key) : NULL;
        if (subject)
            subject->now.run = (double)entry->weight;
    }
    return top->subjects.capacity || !tally->used ? 0 : -ENOMEM;
}

static void join_share(void *context, uint64_t key, int64_t ns, int64_t stolen_ns)
{
    const struct top *top = context;
    struct subject *subject = subjects_find(&top->subjects, key);

    if (!subject)
        return;
    subject->now.busiest = fmax(subject->now.busiest, (double)ns);
    subject->now.stolen += (double)stolen_ns;
}

static void join_pair(struct top *top, const struct pair *pair)
{
    bool quota = pair->aggressor == HOG_THROTTLED;

    if (!pair->victim || pair->ns <= 0 || pair->aggressor == pair->victim ||
        (!quota && waits_no_process(pair->aggressor)))
        return;
    struct subject *subject = subjects_at(&top->subjects, quota ? pair->victim : pair->aggressor);
    if (subject && quota) {
        subject->now.throttled += (double)pair->ns;
        subject->now.wait = fmax(0, subject->now.wait - (double)pair->ns);
    } else if (subject) {
        subject->now.caused += (double)pair->ns;
    }
}

static void join_waits(struct top *top)
{
    const struct waits *waits = oncpu_waits(top->oncpu);

    if (!waits)
        return;
    waits_each_share(waits, join_share, top);
    const struct pairs *victims = waits_victims(waits), *pairs = waits_pairs(waits);
    for (size_t i = 0; i < victims->capacity; i++) {
        const struct pair *sum = &victims->table[i];
        struct subject *subject =
            sum->victim && sum->ns > 0 ? subjects_at(&top->subjects, sum->victim) : NULL;
        if (!subject)
            continue;
        subject->now.wait = (double)sum->ns;
        subject->waits = sum->count;
        subject->most_wait_ns = sum->most_ns;
    }
    for (size_t i = 0; i < pairs->capacity; i++)
        join_pair(top, &pairs->table[i]);
}

static void join_stalls(struct top *top)
{
    const struct waits *waits = oncpu_waits(top->oncpu);
    const struct pairs *stalls = waits ? waits_stalls(waits) : NULL;

    for (size_t i = 0; stalls && i < stalls->capacity; i++) {
        const struct pair *stall = &stalls->table[i];
        struct subject *subject =
            stall->victim && stall->ns > 0 ? subjects_at(&top->subjects, stall->victim) : NULL;
        if (!subject)
            continue;
        switch ((enum stall)(stall->aggressor - 1)) {
        case STALL_IO:
            subject->now.io += (double)stall->ns;
            subject->io_sleeps += stall->count;
            break;
        case STALL_MEMORY:
            subject->now.memory += (double)stall->ns;
            break;
        case STALL_LOCK:
            subject->now.lock += (double)stall->ns;
            break;
        case STALLS:
            break;
        }
    }
}

/* A major fault sleeps on I/O. Where the kernel does not tell a fault from a call (before 5.15), as large a
 * part of the time is one of memory as there are major faults among the sleeps. */
static void move_faults(const struct top *top, struct subject *subject)
{
    const struct waits *waits = oncpu_waits(top->oncpu);

    if (!waits || waits_stalls_known(waits, STALL_LOCK) || subject->io_sleeps <= 0)
        return;
    double ns = subject->now.io * fmin(1, subject->now.majors / (double)subject->io_sleeps);
    subject->now.io -= ns;
    subject->now.memory += ns;
}

/* Looks can be rarer than windows: their rates stand for the window. Who was born since has a shorter span.
 */
static void join_task(void *context, const struct task_sums *task)
{
    struct top *top = context;
    struct subject *subject = task->memory_known && task->rss_delta_kib > 0
                                  ? subjects_at(&top->subjects, task->key)
                                  : subjects_find(&top->subjects, task->key);

    if (!subject)
        return;
    double span = (double)task->span_ns, within = fmin(span, top->subjects.window);
    if (span > 0) {
        subject->now.majors = (double)task->major * within / span;
        move_faults(top, subject);
    }
    subject->now.busiest = fmax(subject->now.busiest, task->busiest_thread_pct / 100 * within);
    /* Where it is not known by CPU, either. */
    if (task->threads == 1 && !oncpu_waits(top->oncpu))
        subject->now.busiest = fmin(subject->now.run, top->subjects.window);
}

/* A look that fails, or is too dear now, leaves what the one before saw. */
static void look(struct top *top)
{
    if (!tasks_sees_all(top->tasks))
        for (size_t i = 0; i < top->subjects.capacity; i++)
            if (top->subjects.table[i].key && top->subjects.table[i].key != HOG_KEY_OUTSIDE)
                tasks_want(top->tasks, top->subjects.table[i].key);
    if (tasks_look(top->tasks, top->now) == 1)
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
        look(top);
    if (top->cgroups)
        cgroups_prime(top->cgroups, top->now);
    outlooks_update(top->outlooks, top);
    pressures_read(&top->pressures.files, top->pressures.now);
}

int top_join(struct top *top, double window)
{
    const struct thresholds *thresholds = &top->context->options->thresholds;

    if (subjects_begin(&top->subjects, window, thresholds->value[SPAN_S] * 1e9) || join_runs(top))
        return -ENOMEM;
    join_waits(top);
    join_stalls(top);
    if (top->tasks) {
        look(top);
        tasks_each(top->tasks, join_task, top);
    }
    subjects_end(&top->subjects);
    outlooks_update(top->outlooks, top);
    return 0;
}
