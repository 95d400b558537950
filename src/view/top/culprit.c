// SPDX-License-Identifier: GPL-2.0-only
/* What causes a verdict, in one word. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "sched.types.h"
#include "view/top/culprit_blocked.h"
#include "view/top/culprit_disk.h"
#include "view/top/culprit_lock.h"
#include "view/top/culprit_memory.h"
#include "view/top/culprit_starved.h"
#include "view/top/kin.h"
#include "view/top/oom_forecast.h"
#include "view/top/state.h"

#define LONG      80   /* characters: more would be no text but a puzzle */
#define SAID      3    /* most culprits in a cell */
#define NARROW    24   /* characters of a list where rows are narrow */
#define SAID_PART 0.25 /* a further culprit needs this part of the first one's time */

static void append(struct culprit *culprit, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void append(struct culprit *culprit, const char *format, ...)
{
    va_list arguments;
    size_t room = sizeof culprit->text - culprit->length;

    va_start(arguments, format);
    int n = vsnprintf(culprit->text + culprit->length, room, format, arguments);
    va_end(arguments);
    if (n > 0)
        culprit->length += (size_t)n < room ? (size_t)n : room - 1;
}

/* A comma would end the name in a list: it becomes an underscore. */
void culprit_name(const struct top *top, uint64_t key, char *to, size_t size)
{
    const char *bracketed = waits_no_process(key);

    if (bracketed) {
        snprintf(to, size, "%s", bracketed);
        return;
    }
    const struct name *name = sched_name(top->sched, key, top->now);
    int length = snprintf(to, size, "%u/", key_process(key));
    for (size_t i = 0; i < name->comm_length && length > 0 && (size_t)length + 1 < size; i++)
        to[length++] = name->comm[i] == ',' ? '_' : name->comm[i];
    if (length > 0 && (size_t)length < size)
        to[length] = '\0';
}

/* ---- which tasks had the CPU, and which waited for it ---- */

struct pair_query {
    uint64_t victim, aggressor; /* 0: any */
};

static bool is_of(const void *context, const struct pair *pair)
{
    const struct pair_query *query = context;

    if (pair->aggressor == HOG_THROTTLED)
        return false;
    if (query->aggressor)
        return pair->aggressor == query->aggressor && pair->victim != query->aggressor;
    return pair->victim == query->victim;
}

size_t culprit_pairs(const struct top *top, uint64_t victim, uint64_t aggressor, const struct pair **pairs,
                     size_t most)
{
    const struct pair_query query = {victim, aggressor};
    const struct waits *waits = sched_waits(top->sched);

    return waits ? pairs_top(waits_pairs(waits), pairs, most, is_of, &query) : 0;
}

/* Inserts it into the row's list by time, if it is among the heaviest. */
static void add_heaviest(struct heaviest_pairs *heaviest, const struct pair *pair)
{
    size_t i = heaviest->n;

    if (i == HEAVIEST_PAIRS && heaviest->pairs[i - 1]->ns >= pair->ns)
        return;
    if (i < HEAVIEST_PAIRS)
        heaviest->n++;
    else
        i--;
    for (; i && heaviest->pairs[i - 1]->ns < pair->ns; i--)
        heaviest->pairs[i] = heaviest->pairs[i - 1];
    heaviest->pairs[i] = pair;
}

static void note_pair(struct top *top, const struct pair *pair)
{
    const struct judged_process *victim = process_table_find(&top->process_table, pair->victim),
                                *aggressor = process_table_find(&top->process_table, pair->aggressor);

    if (victim && victim->rank && victim->verdict == VERDICT_STARVED && pair->aggressor != HOG_THROTTLED &&
        aggressor != victim) {
        add_heaviest(&top->heaviest[victim->rank - 1], pair);
        starved_add(top, &top->heaviest[victim->rank - 1], pair);
    }
    if (aggressor && aggressor->rank && aggressor->verdict == VERDICT_NOISY_NEIGHBOR && aggressor != victim)
        add_heaviest(&top->heaviest[aggressor->rank - 1], pair);
}

void culprits_find(struct top *top)
{
    const struct waits *waits = sched_waits(top->sched);
    const struct pairs *pairs = waits ? waits_pairs(waits) : NULL;
    bool starved = false;

    for (size_t i = 0; i < top->nranked; i++) {
        top->heaviest[i] = (struct heaviest_pairs){.n = 0};
        starved |= top->ranked[i]->verdict == VERDICT_STARVED;
    }
    if (starved)
        kin_find(top);
    for (size_t i = 0; pairs && i < pairs->capacity; i++)
        if (pairs->table[i].victim && pairs->table[i].ns > 0)
            note_pair(top, &pairs->table[i]);
}

struct blamed {
    uint64_t key;
    double ns;
};

/* The other side of the heaviest pairs; for a victim, steal is merged in by time. */
static size_t blamed_of(const struct top *top, const struct judged_process *process, bool victims,
                        struct blamed list[HEAVIEST_PAIRS + 1])
{
    const struct heaviest_pairs *heaviest = &top->heaviest[process->rank - 1];
    const struct waits *waits = sched_waits(top->sched);
    struct blamed thief = {waits ? waits_thief(waits) : 0, victims ? 0 : process->now.stolen};
    size_t n = 0;

    for (size_t i = 0; i < heaviest->n; i++)
        if (heaviest->pairs[i]->aggressor == thief.key)
            thief.ns += (double)heaviest->pairs[i]->ns;
    for (size_t i = 0; i < heaviest->n; i++) {
        const struct pair *pair = heaviest->pairs[i];
        if (pair->aggressor == thief.key)
            continue;
        if (thief.ns >= (double)pair->ns) {
            list[n++] = thief;
            thief.ns = 0;
        }
        list[n++] = (struct blamed){victims ? pair->victim : pair->aggressor, (double)pair->ns};
    }
    if (thief.ns > 0)
        list[n++] = thief;
    return n;
}

/* The heaviest of them; a name that occurs twice (by preemption and wakeup) is listed once. */
static void others(const struct top *top, const struct judged_process *process, bool victims,
                   struct culprit *culprit)
{
    struct blamed list[HEAVIEST_PAIRS + 1];
    size_t n = blamed_of(top, process, victims, list);
    /* Keeps recordings small. */
    const size_t most = victims || top->context->options->records ? 1 : SAID;
    uint64_t said[SAID];
    size_t nsaid = 0;

    if (!victims && starved_text(top, process, culprit))
        return;
    for (size_t i = 0; i < n && nsaid < most; i++) {
        uint64_t key = list[i].key;
        bool again = false;
        char name[CULPRIT_NAME];
        if (list[i].ns < SAID_PART * list[0].ns)
            break;
        for (size_t j = 0; j < nsaid; j++)
            again |= said[j] == key;
        if (again)
            continue;
        culprit_name(top, key, name, sizeof name);
        if (nsaid && top->context->options->narrow && culprit->length + 1 + strlen(name) > NARROW)
            break;
        append(culprit, "%s%s", nsaid ? "," : "", name);
        said[nsaid++] = key;
    }
}

/* ---- exhausted resources ---- */

/* "/shop/web@20%": of one CPU. Of several enclosing quotas the exhausted one. */
static void quota(const struct top *top, const struct judged_process *process, struct culprit *culprit)
{
    const struct cgroup *group = top_group(top, process->key);
    const struct cgroup_cpu *cpu = group && group->cpu.known ? &group->cpu : NULL;

    if (cpu && cpu->since_known && cpu->throttled.length)
        append(culprit, "%.*s@%.4g%%", (int)cpu->throttled.length, cpu->throttled.text,
               100 * cpu->throttled_cpus);
    else if (cpu && cpu->tightest.length)
        append(culprit, "%.*s@%.4g%%", (int)cpu->tightest.length, cpu->tightest.text, 100 * cpu->cpus);
    else
        append(culprit, "[throttled]");
}

/* "/shop/web@512MiB" */
static void limit(struct culprit *culprit, const struct cgroup_name *path, uint64_t bytes)
{
    append(culprit, "%.*s@%.4gMiB", (int)path->length, path->text, (double)bytes / (1 << 20));
}

/* Another process that takes more of that memory than this one does. */
static void name_grower(const struct top *top, const struct judged_process *process,
                        const struct cgroup_name *path, struct culprit *culprit)
{
    const struct judged_process *grower = memory_grower(top, path);
    char name[CULPRIT_NAME];

    if (!grower || grower == process || key_process(grower->key) == key_process(process->key) ||
        culprit->length > LONG)
        return;
    culprit_name(top, grower->key, name, sizeof name);
    append(culprit, ":%s", name);
}

static void memory_end(const struct top *top, const struct judged_process *process, struct culprit *culprit)
{
    struct oom_end nearest;

    oom_forecast_nearest(top->oom_forecast, top, process, &nearest);
    if (nearest.path.length)
        limit(culprit, &nearest.path, nearest.limit);
    else
        append(culprit, "[host-memory]");
    /* A recording counts how often a cause occurs: it has the seconds in a column of their own. */
    if (process->outlook.known && !top->context->options->records)
        append(culprit, ":%.0fs", process->outlook.seconds);
    name_grower(top, process, &nearest.path, culprit);
}

/* Why pages are refaulted: the group is at its limit, the process was swapped out, or the host is short of
 * memory. */
static void reclaimer(const struct top *top, const struct judged_process *process, struct culprit *culprit)
{
    const struct cgroup *group = top_group(top, process->key);
    const struct cgroup_memory *memory = group && group->memory.known ? &group->memory : NULL;
    const struct task_sums *task = top->tasks ? tasks_find(top->tasks, process->key) : NULL;

    static const struct cgroup_name host;

    if (memory && memory->since_known && memory->reclaiming.length) {
        limit(culprit, &memory->reclaiming, memory->reclaim_limit);
        name_grower(top, process, &memory->reclaiming, culprit);
    } else if (memory && memory->tightest.length && memory->at_limit) {
        limit(culprit, &memory->tightest, memory->limit);
        name_grower(top, process, &memory->tightest, culprit);
    } else {
        append(culprit, task && task->swap_kib ? "[swap]" : "[host-memory]");
        name_grower(top, process, &host, culprit);
    }
}

void culprit_of(const struct top *top, const struct judged_process *process, struct culprit *culprit)
{
    culprit->length = 0;
    culprit->text[0] = '\0';
    switch (process->verdict) {
    case VERDICT_STARVED:
        others(top, process, false, culprit);
        break;
    case VERDICT_NOISY_NEIGHBOR:
        others(top, process, true, culprit);
        break;
    case VERDICT_THROTTLED:
        quota(top, process, culprit);
        break;
    case VERDICT_IO_BOUND:
        culprit->length = disk_text(top, process, culprit->text, sizeof culprit->text);
        break;
    case VERDICT_THRASHING:
        reclaimer(top, process, culprit);
        break;
    case VERDICT_OOM_RISK:
        memory_end(top, process, culprit);
        break;
    case VERDICT_LOCK_BOUND:
        culprit->length = lock_text(top, process, culprit->text, sizeof culprit->text);
        break;
    case VERDICT_BLOCKED:
        culprit->length = blocked_text(top, process, culprit->text, sizeof culprit->text);
        break;
    case VERDICT_IDLE:
    case VERDICT_OK:
    case VERDICT_CPU_BOUND:
    case VERDICTS:
        break;
    }
}
