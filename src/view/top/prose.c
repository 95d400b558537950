// SPDX-License-Identifier: GPL-2.0-only
/* A verdict in sentences: what a process did with its time, what it waited for, and what to do next. */
#include "view/top/functions.h"
#include "view/top/prose.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "shared.types.h"
#include "host/targets.h"
#include "view/top/culprit_disk.h"
#include "view/top/culprit_lock.h"
#include "view/top/culprit_starved.h"
#include "view/top/prose_blocked.h"
#include "view/top/oom_forecast.h"

#define NAMED  3     /* other processes in a sentence */
#define MAIN   0.4   /* of the wait: the culprit */
#define MUCH   0.25  /* of its active time: it did not have all that it asked for */
#define LITTLE 0.005 /* of the span: not worth a word */

/* ---- names ---- */

/* "stress-ng (4711)", or "the hypervisor" */
static void put_task(struct paragraph *p, const struct top *top, uint64_t key)
{
    const char *bracketed = waits_no_process(key);

    if (bracketed) {
        bool steal = !strcmp(bracketed, "[steal]"), interrupts = !strcmp(bracketed, "[interrupts]");
        paragraph_add(p, "%s", steal ? "the hypervisor" : interrupts ? "interrupts" : bracketed);
        return;
    }
    const struct name *name = sched_name(top->sched, key, top->now);
    paragraph_name(p, name->comm, name->comm_length);
    if (key_thread(key))
        paragraph_add(p, " (%u, thread %u)", key_process(key), key_thread(key));
    else
        paragraph_add(p, " (%u)", key_process(key));
}

static void put_group(struct paragraph *p, const struct cgroup_name *name)
{
    paragraph_name(p, name->text, name->length);
}

/* ---- where the time went ---- */

/* Times of a process or of several; together: not all of the span is accounted for, as there are several
 * threads or waits are not known. */
static void say_times(struct paragraph *p, const struct times *t, bool together)
{
    const double all = t->run + t->wait + t->stolen + t->throttled + t->io + t->memory + t->lock + t->blocked;
    const struct {
        const char *what;
        double ns;
    } parts[] = {
        {"ran for", t->run},
        {"waited for a CPU for", t->wait},
        {"lost to the hypervisor or to interrupts", t->stolen},
        {together ? "were held back by a CPU quota for" : "was held back by a CPU quota for", t->throttled},
        {together ? "were blocked on a disk for" : "was blocked on a disk for", t->io},
        {together ? "were blocked on memory for" : "was blocked on memory for", t->memory},
        {"slept for locks for", t->lock},
        {together ? "were blocked for" : "was blocked for", t->blocked},
        {"was idle for", together ? 0 : t->span - all},
    };
    const char *pending = NULL;
    size_t said = 0;
    double ns = 0;

    /* One part is held back, since the last one follows "and". */
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i].ns < LITTLE * t->span)
            continue;
        if (pending) {
            paragraph_add(p, "%s%s ", said++ ? ", " : " ", pending);
            paragraph_time(p, ns);
        }
        pending = parts[i].what;
        ns = parts[i].ns;
    }
    if (!pending) {
        paragraph_add(p, " did next to nothing");
        return;
    }
    paragraph_add(p, "%s%s ", said > 1 ? ", and " : said ? " and " : " ", pending);
    paragraph_time(p, ns);
}

/* ---- what caused it ---- */

struct other {
    uint64_t key;
    double ns;
};

static int compare_others(const void *a, const void *b)
{
    double x = ((const struct other *)a)->ns, y = ((const struct other *)b)->ns;

    return x < y ? 1 : x > y ? -1 : 0;
}

/* The other tasks of the pairs, each once. */
static size_t others_of(const struct top *top, uint64_t key, bool victims, struct other list[HEAVIEST_PAIRS])
{
    const struct pair *pairs[2 * HEAVIEST_PAIRS];
    size_t n = 0, found = culprit_pairs(top, victims ? 0 : key, victims ? key : 0, pairs, 2 * HEAVIEST_PAIRS);

    for (size_t i = 0; i < found; i++) {
        uint64_t other = victims ? pairs[i]->victim : pairs[i]->aggressor;
        size_t j = 0;
        while (j < n && list[j].key != other)
            j++;
        if (j == HEAVIEST_PAIRS)
            continue;
        if (j == n)
            list[n++] = (struct other){.key = other};
        list[j].ns += (double)pairs[i]->ns;
    }
    qsort(list, n, sizeof *list, compare_others);
    return n;
}

static void say_others(struct paragraph *p, const struct top *top, const struct judged_process *process,
                       bool victims)
{
    struct other list[HEAVIEST_PAIRS] = {{0, 0}};
    size_t n = others_of(top, process->key, victims, list), said = 0;

    if (!n)
        return;
    const char *what = victims ? "others waited for the CPU that it had:" : "the CPU was with";
    if (process->judged.span > 1.5 * top->process_table.window) { /* pairs are those of the window only */
        paragraph_add(p, " In the last ");
        paragraph_time(p, top->process_table.window);
        paragraph_add(p, " %s", what);
    } else {
        paragraph_add(p, victims ? " For that time %s" : " Meanwhile %s", what);
    }
    for (; said < n && said < NAMED && list[said].ns * 4 >= list[0].ns; said++) {
        paragraph_add(p, said ? ", " : " ");
        if (list[said].key == process->key)
            paragraph_add(p, "other threads of itself");
        else
            put_task(p, top, list[said].key);
        paragraph_add(p, victims ? " " : " for ");
        paragraph_time(p, list[said].ns);
    }
    paragraph_add(p, said < n ? ", and others." : ".");
}

static void say_quota(struct paragraph *p, const struct cgroup *group)
{
    const struct cgroup_cpu *cpu = group && group->cpu.known ? &group->cpu : NULL;
    bool used_up = cpu && cpu->since_known && cpu->throttled.length;
    const struct cgroup_name *name = used_up ? &cpu->throttled : cpu ? &cpu->tightest : NULL;

    if (!name || !name->length)
        return;
    paragraph_add(p, " The control group ");
    put_group(p, name);
    paragraph_add(p, " may use %.4g %% of a CPU", 100 * (used_up ? cpu->throttled_cpus : cpu->cpus));
    if (used_up)
        paragraph_add(p, ", and had used that up in %.0f %% of its periods", 100 * cpu->throttled_share);
    paragraph_add(p, ".");
}

static void say_limit(struct paragraph *p, const struct cgroup *group, const struct task_sums *task)
{
    const struct cgroup_memory *memory = group && group->memory.known ? &group->memory : NULL;

    if (memory && memory->tightest.length && (memory->at_limit || memory->reclaiming.length)) {
        paragraph_add(p, " The control group ");
        put_group(p, &memory->tightest);
        paragraph_add(p, " is at its limit of ");
        paragraph_bytes(p, (double)memory->limit);
        paragraph_add(p, ", so the kernel takes pages away that it needs again.");
    } else if (task && task->swap_kib) {
        paragraph_bytes((paragraph_add(p, " "), p), 1024.0 * (double)task->swap_kib);
        paragraph_add(p, " of it are in swap.");
    } else {
        paragraph_add(p, " The host is short of memory.");
    }
}

static void say_growth(struct paragraph *p, const struct top *top, const struct judged_process *process)
{
    struct growth_rate own = growth_rate(&process->growth);
    struct oom_end end;

    oom_forecast_nearest(top->oom_forecast, top, process, &end);
    paragraph_add(p, " It grows by ");
    paragraph_bytes(p, own.bytes_s);
    paragraph_add(p, " a second. ");
    if (end.path.length)
        put_group(p, &end.path);
    else
        paragraph_add(p, "The host");
    paragraph_add(p, " has ");
    paragraph_bytes(p, (double)end.headroom);
    paragraph_add(p, " left of ");
    paragraph_bytes(p, (double)end.limit);
    if (end.seconds >= 0)
        paragraph_add(p, ": enough for %.0f seconds. Then the kernel kills a process", end.seconds);
    paragraph_add(p, ".");
}

/* ---- the verdict, and what to do ---- */

static const struct {
    const char *is;   /* after "NAME (PID) is VERDICT: " */
    const char *next; /* %1$u: its PID, or that of the first culprit */
} verdicts[VERDICTS] = {
    [VERDICT_IDLE] = {"it asked for next to nothing.", NULL},
    [VERDICT_OK] = {"it had what it asked for.", NULL},
    [VERDICT_CPU_BOUND] = {"it computes, and gets nearly all the CPU time that it asks for.",
                           "hog stacks -p %u shows what calls these functions."},
    [VERDICT_STARVED] = {"it was ready to run, but something else had the CPU.", NULL},
    [VERDICT_THROTTLED] = {"it was ready to run, but its CPU quota was used up.", NULL},
    [VERDICT_IO_BOUND] = {"it waits for a disk.", NULL},
    [VERDICT_THRASHING] = {"it waits for memory that was taken from it.", NULL},
    [VERDICT_OOM_RISK] = {"its memory is about to run out.",
                          "hog alloc -p %u --leaks 10s shows which function takes it and keeps it; a higher "
                          "limit, or a restart now, prevents the kill."},
    [VERDICT_LOCK_BOUND] = {"its threads wait for locks, mostly of each other.",
                            "hog stacks -p %u --kind lock shows which functions ask for them."},
    [VERDICT_BLOCKED] = {"it waits for something that does not answer.", NULL},
    [VERDICT_NOISY_NEIGHBOR] =
        {"it keeps others waiting for a CPU.",
         "renice -n 10 -p %u makes room for them, and so does a lower CPUWeight= of its "
         "unit."},
};

static void next_of_starved(struct paragraph *p, const struct top *top, const struct judged_process *process)
{
    struct other list[HEAVIEST_PAIRS] = {{0, 0}};
    size_t n = others_of(top, process->key, false, list);
    double most = n ? list[0].ns : 0;

    if (starved_next(p, top, process))
        return;
    if (process->now.stolen > most) {
        paragraph_add(p, "nothing inside of this machine has that time. Ask for more CPUs, or for a quieter "
                         "host.");
        return;
    }
    paragraph_add(p, "hog contention -p %u shows all that it waited for", key_process(process->key));
    if (n && !waits_no_process(list[0].key) && list[0].key != process->key && most > MAIN * process->now.wait)
        paragraph_add(p, "; renice -n 10 -p %u, or a lower CPUWeight= of its unit, puts that one behind.",
                      key_process(list[0].key));
    else
        paragraph_add(p, ". No single process has its CPU: fewer of them, or more CPUs, would help.");
}

static void next_of_group(struct paragraph *p, const struct cgroup_name *name, const char *property,
                          const char *view)
{
    if (!name || !name->length) {
        paragraph_add(p, "hog %s shows what uses it.", view);
        return;
    }
    paragraph_add(p, "hog %s -g ", view);
    put_group(p, name);
    paragraph_add(p, " shows what uses it; %s.", property);
}

static void say_next(struct paragraph *p, const struct top *top, const struct judged_process *process,
                     const struct cgroup *group)
{
    static const struct cgroup_name none;
    bool idle = score(&process->judged) < 10;

    paragraph_add(p, "\nNext: ");
    if (verdicts[process->verdict].next)
        paragraph_add(p, verdicts[process->verdict].next, key_process(process->key));
    else if (process->verdict == VERDICT_IO_BOUND)
        disk_next(p, top, process);
    else if (process->verdict == VERDICT_BLOCKED)
        blocked_next(p, top, process);
    else if (process->verdict == VERDICT_STARVED)
        next_of_starved(p, top, process);
    else if (process->verdict == VERDICT_THROTTLED)
        next_of_group(
            p, group && group->cpu.known ? &group->cpu.tightest : &none,
            "CPUQuota= of the unit, docker update --cpus, or limits.cpu of the container gives more", "cpu");
    else if (process->verdict == VERDICT_THRASHING)
        next_of_group(p, group && group->memory.known ? &group->memory.tightest : &none,
                      "MemoryMax= of the unit, docker update --memory, or limits.memory gives more", "mem");
    else if (idle)
        paragraph_add(p,
                      "if it should do more, it waits for something outside of it: a client, a timer, a "
                      "peer. hog stacks -p %u shows in which functions.",
                      key_process(process->key));
    else
        paragraph_add(p, "nothing. hog cpu -p %u shows how much it runs and waits.",
                      key_process(process->key));
}

static void say_cause(struct paragraph *p, const struct top *top, const struct judged_process *process,
                      const struct cgroup *group)
{
    const struct task_sums *task = top->tasks ? tasks_find(top->tasks, process->key) : NULL;

    switch (process->verdict) {
    case VERDICT_STARVED:
        if (!starved_prose(p, top, process))
            say_others(p, top, process, false);
        break;
    case VERDICT_NOISY_NEIGHBOR:
        say_others(p, top, process, true);
        break;
    case VERDICT_THROTTLED:
        say_quota(p, group);
        break;
    case VERDICT_IO_BOUND:
        disk_prose(p, top, process);
        break;
    case VERDICT_THRASHING:
        say_limit(p, group, task);
        break;
    case VERDICT_OOM_RISK:
        say_growth(p, top, process);
        break;
    case VERDICT_LOCK_BOUND:
        lock_prose(p, top, process);
        break;
    case VERDICT_BLOCKED:
        blocked_prose(p, top, process);
        break;
    case VERDICT_CPU_BOUND:
    case VERDICT_IDLE:
    case VERDICT_OK:
    case VERDICTS:
        break;
    }
}

void top_prose(const struct top *top, const struct judged_process *process, paragraph_line_fn fn,
               void *context)
{
    const struct times nothing = {.span = top->process_table.window};
    const struct cgroup *group = top_group(top, process->key);
    const struct task_sums *task = top->tasks ? tasks_find(top->tasks, process->key) : NULL;
    const struct times *t = process->judged.span > 0 ? &process->judged : &nothing;
    struct paragraph p = {.length = 0};
    bool idle = score(t) < 10, outside = process->key == HOG_KEY_OUTSIDE;
    double sum = t->run + t->wait + t->stolen + t->throttled + t->io + t->memory + t->lock + t->blocked;
    bool together = (task && task->threads > 1) || sum > 1.02 * t->span, waits = sched_waits(top->sched);

    if (outside)
        return;
    put_task(&p, top, process->key);
    if (idle && process->verdict < VERDICT_FIRST_TROUBLE)
        paragraph_add(&p, " is idle: it asked for next to nothing.");
    else if (process->verdict == VERDICT_OK && sum - t->run > MUCH * sum)
        paragraph_add(&p, " is ok: no single cause takes a large part of its time.");
    else
        paragraph_add(&p, " is %s: %s", verdict_names[process->verdict], verdicts[process->verdict].is);
    paragraph_add(&p, " In ");
    paragraph_time(&p, t->span);
    paragraph_add(&p, together ? " its threads, together," : " it");
    say_times(&p, t, together || !waits);
    paragraph_add(&p, waits ? "." : ". What it waited for is not known here: see hog doctor.");
    say_cause(&p, top, process, group);
    functions_prose(&p, top, process);
    say_next(&p, top, process, group);
    paragraph_wrap(&p, PROSE_WIDTH, fn, context);
}

size_t top_prose_of_all(const struct top *top, paragraph_line_fn fn, void *context)
{
    const struct targets *asked = top->context->subject;
    struct times sum = {.span = 0};
    struct paragraph p = {.length = 0};

    if (!asked || asked->n < 2)
        return 0;
    for (size_t i = 0; i < top->process_table.capacity; i++) {
        const struct judged_process *process = &top->process_table.table[i];
        const struct times *t = &process->judged;
        if (!process->key || !targets_find(asked, process->key))
            continue;
        sum.span = fmax(sum.span, t->span);
        sum.run += t->run;
        sum.wait += t->wait;
        sum.stolen += t->stolen;
        sum.throttled += t->throttled;
        sum.io += t->io;
        sum.memory += t->memory;
        sum.lock += t->lock;
        sum.blocked += t->blocked;
    }
    const char *name = top->context->options->subject;
    if (name) {
        paragraph_name(&p, name, strlen(name));
        paragraph_add(&p, ": ");
    }
    paragraph_add(&p, "%zu processes. In ", asked->n);
    paragraph_time(&p, sum.span);
    paragraph_add(&p, " their threads, together,");
    say_times(&p, &sum, true);
    paragraph_add(&p, ".");
    paragraph_wrap(&p, PROSE_WIDTH, fn, context);
    return 1;
}
