// SPDX-License-Identifier: GPL-2.0-only
/* Judges every process, selects rows, and sorts them. */
#include <stdlib.h>
#include "shared.types.h"
#include "host/targets.h"
#include "view/top/state.h"

static bool is_kernel_thread(const struct top *top, uint64_t key)
{
    const struct task_sums *task = top->tasks ? tasks_find(top->tasks, key) : NULL;

    return task ? task->kernel : sched_name(top->sched, key, top->now)->kernel;
}

/* Whether `hog why` asks about some processes. */
static bool has_subject(const struct targets *process)
{
    return process && process->n;
}

static bool rank_is_wanted(const struct top *top, const struct judged_process *process)
{
    const struct targets *targets = top->context->targets;

    if (targets->n && !targets_find(targets, process->key))
        return false;
    if (has_subject(top->context->subject) && !targets_find(top->context->subject, process->key))
        return false;
    return !top->context->options->no_kernel || !is_kernel_thread(top, process->key);
}

/* A process asked for is shown even if it did nothing; it is found by its number, as start times in /proc are
 * less exact than those of the kernel. By thread its threads are not known. */
static void add_asked(struct top *top, const struct targets *targets)
{
    bool here[MAX_PIDS] = {false};

    if (!targets->n || top->context->options->threads)
        return;
    for (size_t i = 0; i < top->process_table.capacity; i++) {
        const struct target *target = targets_find(targets, top->process_table.table[i].key);
        if (target)
            here[target - targets->list] = true;
    }
    for (size_t i = 0; i < targets->n; i++)
        if (!here[i])
            process_table_at(&top->process_table,
                             key_make(targets->list[i].pid, 0, targets->list[i].start_ns));
}

static bool is_asked(const struct top *top, uint64_t key)
{
    return (top->context->targets->n && targets_find(top->context->targets, key)) ||
           (has_subject(top->context->subject) && targets_find(top->context->subject, key));
}

/* [outside] is many processes: no verdict. */
static void judge_process(const struct top *top, struct judged_process *process)
{
    struct judgement judgement;

    judge(&process->judged, &process->outlook, top->context->options->thresholds, &judgement);
    process->verdict = process->key == HOG_KEY_OUTSIDE ? VERDICT_OK : judgement.verdict;
}

/* What has been blocked for so long comes first, as long as it leaves room for others: of thousands that hang
 * for one reason, some rows tell enough. */
#define LONG_BLOCKED  10000000000ull /* ns */
#define FIRST_BLOCKED 3

/* Rows that meet --alert, or whose memory is about to run out, come first, then the longest blocked. */
static unsigned urgency(const struct top *top, const struct judged_process *process)
{
    unsigned alerted = top->context->options->alert >> process->verdict & 1;

    return 4 * alerted + 2 * (process->verdict == VERDICT_OOM_RISK) + process->long_blocked;
}

static bool is_long_blocked(const struct judged_process *process)
{
    return process->verdict == VERDICT_BLOCKED && process->blocked_ns >= LONG_BLOCKED;
}

/* Marks the FIRST_BLOCKED that have been blocked the longest; of equals those with the lowest key. */
static void mark_long_blocked(struct top *top)
{
    struct judged_process *longest[FIRST_BLOCKED];
    size_t n = 0;

    for (size_t i = 0; i < top->process_table.capacity; i++) {
        struct judged_process *process = &top->process_table.table[i];
        size_t at = n;
        process->long_blocked = false;
        if (!process->wanted || !is_long_blocked(process))
            continue;
        for (; at &&
               (longest[at - 1]->blocked_ns < process->blocked_ns ||
                (longest[at - 1]->blocked_ns == process->blocked_ns && longest[at - 1]->key > process->key));
             at--)
            if (at < FIRST_BLOCKED)
                longest[at] = longest[at - 1];
        if (at < FIRST_BLOCKED)
            longest[at] = process;
        n += n < FIRST_BLOCKED;
    }
    for (size_t i = 0; i < n; i++)
        longest[i]->long_blocked = true;
}

static int compare_rank(const struct top *top, const struct judged_process *a, const struct judged_process *b)
{
    unsigned x = urgency(top, a), y = urgency(top, b);
    double i = score(&a->now), j = score(&b->now);

    if (x != y)
        return x > y ? -1 : 1;
    if (i != j)
        return i > j ? -1 : 1;
    return a->key < b->key ? -1 : a->key > b->key;
}

/* Inserts it by rank, if it is among the first. */
static void insert_ranked(struct top *top, struct judged_process *process)
{
    size_t most = top->context->options->top, i = top->nranked;

    if (i == most && compare_rank(top, process, top->ranked[i - 1]) > 0)
        return;
    if (i < most)
        top->nranked++;
    else
        i--;
    for (; i && compare_rank(top, process, top->ranked[i - 1]) < 0; i--)
        top->ranked[i] = top->ranked[i - 1];
    top->ranked[i] = process;
}

static bool is_shown(const struct top *top, const struct judged_process *process)
{
    return process->key &&
           (score(&process->now) > 0 || process->outlook.known || is_asked(top, process->key)) &&
           rank_is_wanted(top, process);
}

void top_rank(struct top *top)
{
    const struct run_options *options = top->context->options;

    top->nranked = 0;
    top->alert = false;
    add_asked(top, top->context->targets);
    if (top->context->subject)
        add_asked(top, top->context->subject);
    for (size_t i = 0; i < top->process_table.capacity; i++) {
        struct judged_process *process = &top->process_table.table[i];
        process->rank = 0;
        process->wanted = is_shown(top, process);
        if (!process->wanted)
            continue;
        judge_process(top, process);
        if (process->verdict >= VERDICT_FIRST_TROUBLE && options->alert >> process->verdict & 1)
            top->alert = true;
    }
    mark_long_blocked(top);
    for (size_t i = 0; i < top->process_table.capacity; i++)
        if (top->process_table.table[i].wanted)
            insert_ranked(top, &top->process_table.table[i]);
    for (size_t i = 0; i < top->nranked; i++)
        top->ranked[i]->rank = i + 1;
}
