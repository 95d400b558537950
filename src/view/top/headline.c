// SPDX-License-Identifier: GPL-2.0-only
#include "view/top/headline.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "shared.types.h"
#include "host/pidns.h"
#include "view/top/culprit_disk.h"
#include "view/top/families.h"
#include "view/top/kin.h"
#include "view/top/oom_forecast.h"
#include "view/top/prose_blocked.h"

#define MEMBERS 64    /* the heaviest users of a resource */
#define LIGHT   0.005 /* of what all use: too little to look for its family */
#define SHORT   0.25  /* threads that wait for it, mean over the window: fewer, and it is not short */
#define LOSES   0.1   /* of the window: a process that loses less is not counted */
#define IDLE    0.25  /* of all CPUs: so much idle time while tasks wait is worth a word */
#define DISKS   16
#define MUCH    0.5            /* of the CPUs */
#define LEAST   0.05           /* of what all use: a family with less is no story */
#define BRIEF   0.1            /* of the window: what children have that come and go */
#define HANGS   10000000000ull /* ns: a file system that does not answer for so long comes before all else */

enum shortage { SHORT_CPU, SHORT_QUOTA, SHORT_MEMORY, SHORT_DISK, SHORTAGES };

static double lost_to(const struct judged_process *process, enum shortage what)
{
    switch (what) {
    case SHORT_CPU:
        return process->now.wait + process->now.stolen;
    case SHORT_QUOTA:
        return process->now.throttled;
    case SHORT_MEMORY:
        return process->now.memory;
    case SHORT_DISK:
        return process->now.io;
    case SHORTAGES:
        break;
    }
    return 0;
}

typedef double (*weight_fn)(const struct top *top, const struct judged_process *process, const void *context);

/* What the heaviest users of a resource use of it, and what all do. */
struct users {
    struct member list[MEMBERS]; /* heaviest first */
    bool in[MEMBERS];            /* belongs to the hog */
    size_t n;
    double all;
    const struct family *family; /* the hog, of those that are divided; NULL: see `in` */
};

static void add_user(struct users *users, uint64_t key, double weight)
{
    size_t i = users->n;

    users->all += weight;
    if (i == MEMBERS && users->list[i - 1].weight >= weight)
        return;
    if (i < MEMBERS)
        users->n++;
    else
        i--;
    for (; i && users->list[i - 1].weight < weight; i--)
        users->list[i] = users->list[i - 1];
    users->list[i] = (struct member){.key = key, .weight = weight};
}

static void find_users(const struct top *top, weight_fn weight_of, const void *context, struct users *users)
{
    *users = (struct users){.n = 0};
    for (size_t i = 0; i < top->process_table.capacity; i++) {
        const struct judged_process *process = &top->process_table.table[i];
        double weight =
            process->key && process->key != HOG_KEY_OUTSIDE ? weight_of(top, process, context) : 0;
        if (weight > 0)
            add_user(users, process->key, weight);
    }
}

static void put_process(const struct top *top, uint64_t key, struct headline *h)
{
    const struct name *name = sched_name(top->sched, key, top->now);
    struct paragraph p = {.length = 0};

    paragraph_name(&p, name->comm, name->comm_length);
    snprintf(h->hog, sizeof h->hog, "%.150s (%u)", p.text, key_process(key));
}

/* The family that takes most, or the process. */
static void name_hog(struct top *top, struct users *users, struct headline *h)
{
    struct family family;

    if (!users->n)
        return;
    if (!top->families && pidns_is_of_proc(top->context->pidns))
        top->families = families_open(top->context->names);
    while (users->n > 1 && users->list[users->n - 1].weight < LIGHT * users->all)
        users->n--;
    for (size_t i = 0; i < users->n; i++) /* so that the names of those that have ended are known */
        sched_name(top->sched, users->list[i].key, top->now);
    if (top->families &&
        families_heaviest(top->families, top->now, top->context->names, users->list, users->n, &family,
                          users->in) &&
        family.n > 1) {
        struct paragraph p = {.length = 0};
        paragraph_name(&p, family.comm, family.comm_length);
        snprintf(h->hog, sizeof h->hog, "%.150s (%zu processes)", p.text, family.n);
        h->share_pct = 100 * family.weight / users->all;
        return;
    }
    memset(users->in, 0, sizeof users->in);
    users->in[0] = true;
    put_process(top, users->list[0].key, h);
    h->share_pct = 100 * users->list[0].weight / users->all;
}

/* Of the CPUs: the family is one of those that rows name. */
static bool name_family(struct top *top, struct users *users, struct headline *h)
{
    const struct family *family = kin_find(top) ? families_first(top->families) : NULL;
    bool ended;

    if (!family || family->weight < LEAST * users->all)
        return false;
    for (size_t i = 0; i < users->n; i++)
        if (users->list[i].weight > family->weight && kin_of(top, users->list[i].key, &ended) != family)
            return false;
    struct paragraph p = {.length = 0};
    paragraph_name(&p, family->comm, family->comm_length);
    bool brief = family->ended * 2 > family->n && family->ended_weight * 2 > family->weight &&
                 family->ended_most < BRIEF * top->process_table.window;
    snprintf(h->hog, sizeof h->hog, "%.150s (%zu %sprocesses)", p.text, family->n, brief ? "short " : "");
    h->share_pct = fmin(100, 100 * family->weight / users->all);
    h->single_pct = brief ? 100 * family->ended_most / top->process_table.window : -1;
    users->family = family;
    return true;
}

static bool is_hog(const struct top *top, const struct users *users, uint64_t key)
{
    bool ended;

    if (users->family)
        return kin_of(top, key, &ended) == users->family;
    for (size_t i = 0; i < users->n; i++)
        if (users->list[i].key == key)
            return users->in[i];
    return false;
}

static void count_losers(const struct top *top, const struct users *users, enum shortage what,
                         struct headline *h)
{
    double window = top->process_table.window;

    for (size_t i = 0; i < top->process_table.capacity; i++) {
        const struct judged_process *process = &top->process_table.table[i];
        double part = process->key ? lost_to(process, what) / window : 0;
        if (part < LOSES || is_hog(top, users, process->key))
            continue;
        h->least_pct = h->losers ? fmin(h->least_pct, 100 * part) : 100 * part;
        h->most_pct = fmax(h->most_pct, 100 * part);
        h->losers++;
    }
}

static void say_losers(struct headline *h)
{
    if (!h->losers)
        return;
    paragraph_add(&h->text, "; %zu other%s lose%s %.0f", h->losers, h->losers > 1 ? "s" : "",
                  h->losers > 1 ? "" : "s", h->least_pct);
    if (h->most_pct >= h->least_pct + 1)
        paragraph_add(&h->text, " to %.0f", h->most_pct);
    paragraph_add(&h->text, NO_BREAK "%%");
}

static void say_hog(struct headline *h, const char *does)
{
    if (*h->hog)
        paragraph_add(&h->text, ": %s %s %s%.0f" NO_BREAK "%%", h->hog, does,
                      h->share_pct < 50 ? "most, " : "", h->share_pct);
    if (*h->hog && h->single_pct >= 0)
        paragraph_add(&h->text, ", none above %.0f" NO_BREAK "%%", ceil(h->single_pct));
    say_losers(h);
}

/* ---- each resource ---- */

static double by_run(const struct top *top, const struct judged_process *process, const void *context)
{
    (void)top, (void)context;
    return process->now.run;
}

static void headline_cpu(struct top *top, struct headline *h)
{
    const struct sched_totals *totals = sched_totals(top->sched);
    double window = top->process_table.window, idle = (double)totals->idle_ns / window / totals->cpus;
    struct users users;

    find_users(top, by_run, NULL, &users);
    users.all += (double)totals->lost_ns;
    h->resource = "cpu";
    h->capacity = totals->cpus;
    h->demand += users.all / window;
    if (!name_family(top, &users, h))
        name_hog(top, &users, h);
    count_losers(top, &users, SHORT_CPU, h);
    paragraph_add(&h->text, "%.1f runnable for %u CPU%s", h->demand, totals->cpus,
                  totals->cpus > 1 ? "s" : "");
    const struct waits *waits = sched_waits(top->sched);
    const struct interrupts *interrupts = waits ? waits_interrupts(waits) : NULL;
    bool soft = interrupts && interrupts->known && interrupts->soft_of_cpu > MUCH;
    if (idle > IDLE && !soft)
        paragraph_add(&h->text, " (%.0f %% idle: bound tasks)", 100 * idle);
    say_hog(h, "takes");
    if (soft)
        paragraph_add(&h->text, "; CPU %d spends %.0f" NO_BREAK "%% in softirq", interrupts->cpu,
                      100 * interrupts->soft_of_cpu);
}

static double by_quota(const struct top *top, const struct judged_process *process, const void *context)
{
    (void)top, (void)context;
    return process->now.throttled > 0 ? process->now.throttled + process->now.run : 0;
}

static void headline_quota(struct top *top, struct headline *h)
{
    struct users users;

    find_users(top, by_quota, NULL, &users);
    name_hog(top, &users, h);
    count_losers(top, &users, SHORT_QUOTA, h);
    const struct cgroup *group = users.n ? top_group(top, users.list[0].key) : NULL;
    const struct cgroup_cpu *cpu = group && group->cpu.known ? &group->cpu : NULL;
    const struct cgroup_name *name = !cpu ? NULL : cpu->throttled.length ? &cpu->throttled : &cpu->tightest;
    h->resource = "quota";
    if (name && name->length) {
        h->capacity = cpu->throttled.length ? cpu->throttled_cpus : cpu->cpus;
        paragraph_name(&h->text, name->text, name->length);
        paragraph_add(&h->text, " has used up its quota of %.4g CPUs", h->capacity);
    } else {
        paragraph_add(&h->text, "a CPU quota is used up");
    }
    say_hog(h, "takes");
}

static double by_resident(const struct top *top, const struct judged_process *process, const void *context)
{
    const struct task_sums *task = top->tasks ? tasks_find(top->tasks, process->key) : NULL;

    (void)context;
    return task && task->memory_known ? (double)task->rss_kib : 0;
}

static void headline_memory(struct top *top, struct headline *h)
{
    const struct memory *memory = oom_forecast_memory(top->oom_forecast);
    struct users users;

    find_users(top, by_resident, NULL, &users);
    h->resource = "memory";
    name_hog(top, &users, h);
    count_losers(top, &users, SHORT_MEMORY, h);
    paragraph_add(&h->text, "%.1f threads wait for memory", h->demand);
    if (memory && memory->known) {
        paragraph_add(&h->text, ", ");
        paragraph_bytes(&h->text, (double)memory->available);
        paragraph_add(&h->text, " available");
    }
    say_hog(h, "has");
}

/* A process whose memory is about to run out comes before all that is only slow. */
static void headline_end(struct top *top, const struct judged_process *process, struct headline *h)
{
    struct growth_rate own = growth_rate(&process->growth);
    struct oom_end end;

    oom_forecast_nearest(top->oom_forecast, top, process, &end);
    h->resource = "memory";
    put_process(top, process->key, h);
    h->share_pct = end.rate.bytes_s > 0 ? fmin(100, 100 * own.bytes_s / end.rate.bytes_s) : -1;
    if (end.path.length)
        paragraph_name(&h->text, end.path.text, end.path.length);
    else
        paragraph_add(&h->text, "the host");
    paragraph_add(&h->text, " runs out of memory in %.0f s: %s grows by ", fmax(0, process->outlook.seconds),
                  h->hog);
    paragraph_bytes(&h->text, own.bytes_s);
    paragraph_add(&h->text, "/s");
}

/* Of which disk most threads wait. */
static bool slowest_disk(const struct top *top, struct disk_use *worst)
{
    struct {
        struct disk_use use;
        double ns;
    } disks[DISKS];
    size_t n = 0, most = 0;

    for (size_t i = 0; top->disks && i < top->process_table.capacity; i++) {
        const struct judged_process *process = &top->process_table.table[i];
        struct disk_use use;
        size_t j = 0;
        if (!process->key || process->now.io <= 0 || !disks_of(top->disks, process->key, &use))
            continue;
        while (j < n && (disks[j].use.major != use.major || disks[j].use.minor != use.minor))
            j++;
        if (j == DISKS)
            continue;
        if (j == n) {
            disks[n].use = use;
            disks[n++].ns = 0;
        }
        disks[j].ns += process->now.io;
        most = disks[j].ns > disks[most].ns ? j : most;
    }
    if (n)
        *worst = disks[most].use;
    return n;
}

static double by_bytes(const struct top *top, const struct judged_process *process, const void *context)
{
    const struct disk_use *disk = context;
    struct disk_use use;

    return disks_of(top->disks, process->key, &use) && use.major == disk->major && use.minor == disk->minor &&
                   disk_counts(top, process->key)
               ? (double)use.bytes
               : 0;
}

static void headline_disk(struct top *top, struct headline *h)
{
    struct disk_use disk;
    struct users users = {.n = 0};

    h->resource = "disk";
    if (slowest_disk(top, &disk)) {
        snprintf(h->disk, sizeof h->disk, "%s", disk.disk.name);
        h->resource = h->disk;
        find_users(top, by_bytes, &disk, &users);
        name_hog(top, &users, h);
    }
    count_losers(top, &users, SHORT_DISK, h);
    paragraph_add(&h->text, "%.1f threads wait for %s", h->demand, *h->disk ? h->disk : "a disk");
    say_hog(h, "moves");
}

/* Nothing waits, but short-lived processes, none of which has a row, use much. */
static bool say_storm(struct top *top, struct headline *h)
{
    struct users users;

    find_users(top, by_run, NULL, &users);
    users.all += (double)sched_totals(top->sched)->lost_ns;
    if (!name_family(top, &users, h) || h->single_pct < 0 || h->share_pct < 100 * MUCH) {
        h->share_pct = h->single_pct = -1;
        *h->hog = '\0';
        return false;
    }
    say_hog(h, "takes");
    return true;
}

static void headline_none(struct top *top, struct headline *h)
{
    const struct sched_totals *totals = sched_totals(top->sched);
    const struct memory *memory = oom_forecast_memory(top->oom_forecast);
    double cpus = (double)totals->cpus * top->process_table.window;
    double busy = cpus > 0 ? 100 * (1 - (double)totals->idle_ns / cpus) : 0;

    bool known = sched_waits(top->sched); /* without type data waits are not counted */
    h->resource = known ? "none" : NULL;
    h->capacity = totals->cpus;
    h->demand = busy / 100 * totals->cpus;
    paragraph_add(&h->text, "%s: %u CPU%s %.0f %% busy",
                  known ? "no resource is short" : "what processes wait for is not known here", totals->cpus,
                  totals->cpus > 1 ? "s" : "", fmax(0, busy));
    if (busy > 100 * MUCH && say_storm(top, h))
        return;
    if (memory && memory->known && memory->total)
        paragraph_add(&h->text, ", %.0f %% of memory available",
                      100 * (double)memory->available / (double)memory->total);
}

/* "7 threads blocked for 12 s by the fuse file system /mnt/x: its server bindfs (4711) is stopped" */
static void headline_blocked(const struct top *top, const struct blocked_story *story, struct headline *h)
{
    struct stuck_cause cause;

    stuck_explain(tasks_stuck(top->tasks), story->oldest, top->now, &cause);
    h->resource = cause.word && cause.word[0] != '[' ? cause.word : "blocked";
    h->demand = (double)story->all;
    paragraph_add(&h->text, "%zu thread%s blocked", story->all, story->all > 1 ? "s" : "");
    if (story->threads < story->all)
        paragraph_add(&h->text, ", %zu", story->threads);
    paragraph_add(&h->text, " for ");
    paragraph_time(&h->text, (double)story->longest);
    paragraph_add(&h->text, " by ");
    blocked_words(&h->text, story->oldest, &cause);
    if (!cause.process)
        return;
    struct paragraph name = {.length = 0};
    blocked_name(&name, top, cause.process);
    snprintf(h->hog, sizeof h->hog, "%.150s", name.text);
    paragraph_add(&h->text, ": %s %s%s", blocked_role(story->oldest), h->hog,
                  cause.stopped ? " is stopped" : "");
}

static void find_headline(struct top *top, struct headline *h)
{
    double lost[SHORTAGES] = {0}, window = top->process_table.window;
    enum shortage worst = SHORT_CPU;
    struct blocked_story story;

    *h = (struct headline){.demand = -1, .capacity = -1, .share_pct = -1, .single_pct = -1};
    if (top->nranked && top->ranked[0]->verdict == VERDICT_OOM_RISK) {
        headline_end(top, top->ranked[0], h);
        return;
    }
    blocked_story(top, &story);
    if (story.fault && story.longest >= HANGS) {
        headline_blocked(top, &story, h);
        return;
    }
    for (size_t i = 0; i < top->process_table.capacity; i++)
        for (enum shortage what = 0; top->process_table.table[i].key && what < SHORTAGES; what++)
            lost[what] += lost_to(&top->process_table.table[i], what);
    for (enum shortage what = 0; what < SHORTAGES; what++)
        worst = lost[what] > lost[worst] ? what : worst;
    bool enough = window > 0 && lost[worst] >= SHORT * window;
    if (story.oldest && (!enough || (story.fault && (double)story.threads * window > lost[worst]))) {
        headline_blocked(top, &story, h);
        return;
    }
    if (!enough) {
        headline_none(top, h);
        return;
    }
    h->demand = lost[worst] / window;
    if (worst == SHORT_CPU)
        headline_cpu(top, h);
    else if (worst == SHORT_QUOTA)
        headline_quota(top, h);
    else if (worst == SHORT_MEMORY)
        headline_memory(top, h);
    else
        headline_disk(top, h);
}

/* In front of all else. */
static void say_kills(const struct top *top, struct headline *h)
{
    struct paragraph rest = h->text, *p = &h->text;
    const struct oom_kill *kill = &top->oom_killed;

    if (!top->oom_killed_count)
        return;
    *p = (struct paragraph){.length = 0};
    paragraph_name(p, kill->comm, strlen(kill->comm));
    if (pidns_is_of_proc(top->context->pidns) && !top->context->pidns->translate)
        paragraph_add(p, " (%u)", kill->pid);
    paragraph_add(p, ", ");
    paragraph_bytes(p, 1024 * (double)kill->rss_kib);
    if (top->oom_killed_count > 1)
        paragraph_add(p, ", and %u more", top->oom_killed_count - 1);
    paragraph_add(p, top->oom_killed_count > 1 ? " were" : " was");
    paragraph_add(p, " killed for lack of memory; %s", rest.text);
}

void top_headline(struct top *top, struct headline *h)
{
    find_headline(top, h);
    say_kills(top, h);
    paragraph_flatten(&h->text);
}
