// SPDX-License-Identifier: GPL-2.0-only
#include "view/top/oom_forecast.h"
#include <math.h>
#include <stdlib.h>
#include "shared.types.h"
#include "view/top/state.h"

#define GROUPS 64

/* A cgroup with a limit that contains a growing process. */
struct grower {
    uint64_t hash;   /* hash of its path; 0: empty */
    uint64_t looked; /* last use; the least recently used one is replaced */
    struct growth growth;
};

struct oom_forecast {
    struct memory_source *source;
    const struct memory *memory;
    struct growth host;
    uint32_t span_ms; /* span over which growth is measured */
    struct grower groups[GROUPS];
};

struct oom_forecast *oom_forecast_open(double span_s)
{
    struct oom_forecast *o = calloc(1, sizeof *o);

    if (!o)
        return NULL;
    o->source = memory_open("");
    o->span_ms = o->host.span_ms = (uint32_t)(span_s * 1e3);
    return o;
}

void oom_forecast_close(struct oom_forecast *o)
{
    if (o && o->source)
        memory_close(o->source);
    free(o);
}

const struct memory *oom_forecast_memory(const struct oom_forecast *o)
{
    return o->memory && o->memory->known ? o->memory : NULL;
}

static uint64_t hash_of(const struct cgroup_name *path)
{
    uint64_t hash = 0xcbf29ce484222325ull; /* FNV-1a */

    for (size_t i = 0; i < path->length; i++)
        hash = (hash ^ (uint8_t)path->text[i]) * 0x100000001b3ull;
    return hash | 1;
}

static const struct grower *find_limit(const struct oom_forecast *o, uint64_t hash)
{
    for (const struct grower *g = o->groups; g < o->groups + GROUPS; g++)
        if (g->hash == hash)
            return g;
    return NULL;
}

static void oom_forecast_look(struct oom_forecast *o, const struct cgroup *group, uint64_t now)
{
    uint64_t hash = hash_of(&group->memory.tightest);
    struct grower *g = (struct grower *)find_limit(o, hash);

    if (!g) {
        g = o->groups;
        for (struct grower *other = o->groups; other < o->groups + GROUPS; other++)
            if (other->looked < g->looked)
                g = other;
        *g = (struct grower){.hash = hash, .growth.span_ms = o->span_ms};
    }
    if (g->looked != now)
        growth_add(&g->growth, group->read_ns, group->memory.used);
    g->looked = now;
}

/* ---- limits ---- */

static void finish_limit(struct oom_end *out, const struct growth *growth)
{
    out->rate = growth_rate(growth);
    out->seconds = growth_seconds_left(&out->rate, out->headroom);
}

void oom_forecast_of_host(const struct oom_forecast *o, struct oom_end *out)
{
    *out = (struct oom_end){.seconds = -1};
    if (!oom_forecast_memory(o))
        return;
    out->limit = o->memory->total;
    out->headroom = o->memory->headroom;
    out->used = o->memory->total > o->memory->available ? o->memory->total - o->memory->available : 0;
    finish_limit(out, &o->host);
}

static bool of_group(const struct oom_forecast *o, const struct cgroup *group, struct oom_end *out)
{
    const struct cgroup_memory *memory = group ? &group->memory : NULL;
    const struct grower *g =
        memory && memory->known && memory->tightest.length ? find_limit(o, hash_of(&memory->tightest)) : NULL;

    *out = (struct oom_end){.seconds = -1};
    if (!g)
        return false;
    out->path = memory->tightest;
    out->limit = memory->limit;
    out->used = memory->used;
    out->headroom = memory->headroom;
    finish_limit(out, &g->growth);
    return true;
}

void oom_forecast_nearest(const struct oom_forecast *o, const struct top *top,
                          const struct judged_process *process, struct oom_end *out)
{
    struct oom_end group;

    oom_forecast_of_host(o, out);
    if (of_group(o, top_group(top, process->key), &group) &&
        (out->seconds < 0 || (group.seconds >= 0 && group.seconds < out->seconds)))
        *out = group;
}

/* ---- a window ---- */

static void judge_growth(const struct oom_forecast *o, const struct top *top, struct judged_process *process)
{
    struct growth_rate own = growth_rate(&process->growth);
    struct oom_end nearest;

    if (!own.sustained || own.bytes_s <= 0)
        return;
    oom_forecast_nearest(o, top, process, &nearest);
    if (nearest.seconds < 0)
        return;
    process->outlook.known = true;
    process->outlook.seconds = nearest.seconds;
    process->outlook.share_pct = fmin(100, 100 * own.bytes_s / nearest.rate.bytes_s);
}

static void watch_limits(struct oom_forecast *o, const struct top *top, struct judged_process *process)
{
    const struct task_sums *task = tasks_find(top->tasks, process->key);

    process->outlook = (struct outlook){0};
    process->grows = task && task->memory_known && task->rss_delta_kib > 0;
    if (!task || !task->memory_known)
        return;
    process->growth.span_ms = o->span_ms;
    growth_add(&process->growth, top->looked, task->rss_kib * 1024);
    if (!process->grows)
        return;
    const struct cgroup *group = top_group(top, process->key);
    if (group && group->memory.known && group->memory.tightest.length)
        oom_forecast_look(o, group, top->now);
}

void oom_forecast_update(struct oom_forecast *o, struct top *top)
{
    o->memory = o->source ? memory_read(o->source, top->now) : NULL;
    if (oom_forecast_memory(o))
        growth_add(&o->host, o->memory->read_ns,
                   o->memory->total + o->memory->swap_total - o->memory->headroom);
    if (!top->tasks || top->looked != top->now) /* no new snapshot of tasks */
        return;
    for (size_t i = 0; i < top->process_table.capacity; i++)
        if (top->process_table.table[i].key && top->process_table.table[i].key != HOG_KEY_OUTSIDE)
            watch_limits(o, top, &top->process_table.table[i]);
    for (size_t i = 0; i < top->process_table.capacity; i++)
        if (top->process_table.table[i].key && growth_rises(&top->process_table.table[i].growth))
            judge_growth(o, top, &top->process_table.table[i]);
}
