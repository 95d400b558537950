// SPDX-License-Identifier: GPL-2.0-only
/* The numbers behind a verdict, one per line: '#why pid=... ...'. */
#include "shared.types.h"
#include "view/sched_cells.h"
#include "view/top/culprit_starved.h"
#include "view/top/functions.h"
#include "view/top/kin.h"
#include "view/top/oom_forecast.h"
#include "view/top/state.h"

#define NAMED 5 /* aggressors or victims listed */

struct line {
    struct out *out;
    struct field fields[12];
    size_t n;
};

static void why_put(struct line *line, const char *name, struct cell cell)
{
    if (line->n < sizeof line->fields / sizeof *line->fields)
        line->fields[line->n++] = (struct field){name, cell};
}

static struct line why_begin(const struct judged_process *process, struct out *out)
{
    struct line line = {.out = out};

    why_put(&line, "pid",
            process->key == HOG_KEY_OUTSIDE ? cell_unknown() : cell_unsigned(key_process(process->key)));
    if (process->key != HOG_KEY_OUTSIDE && key_thread(process->key))
        why_put(&line, "tid", cell_unsigned(key_thread(process->key)));
    return line;
}

static void why_end(const struct line *line)
{
    out_note(line->out, "why", line->fields, line->n);
}

/* ---- where its time went ---- */

static void put_time(const struct judged_process *process, double active, const char *name, double ns,
                     struct out *out)
{
    struct line line = why_begin(process, out);

    if (ns <= 0)
        return;
    why_put(&line, "time", cell_string(name));
    why_put(&line, "ms", cell_decimal(ns / 1e6, 3));
    why_put(&line, "span_pct", cell_decimal(100 * ns / process->judged.span, 2));
    why_put(&line, "active_pct", active > 0 ? cell_decimal(100 * ns / active, 2) : cell_unknown());
    why_end(&line);
}

static void put_times(const struct judged_process *process, const struct judgement *judgement,
                      struct out *out)
{
    const struct times *t = &process->judged;
    const struct {
        const char *name;
        double ns;
    } all[] = {
        {"run", t->run}, {"wait", t->wait},     {"stolen", t->stolen}, {"throttled", t->throttled},
        {"io", t->io},   {"memory", t->memory}, {"lock", t->lock},     {"blocked", t->blocked},
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        put_time(process, judgement->active, all[i].name, all[i].ns, out);
}

/* ---- the rules ---- */

static void put_finding(const struct judged_process *process, const struct finding *finding, struct out *out)
{
    const struct threshold_spec *threshold = &threshold_table[finding->threshold];
    struct line line = why_begin(process, out);

    why_put(&line, "rule", cell_string(verdict_names[finding->verdict]));
    why_put(&line, "holds", cell_string(!finding->known ? NULL : finding->holds ? "yes" : "no"));
    why_put(&line, "value", finding->known ? cell_decimal(finding->value, 2) : cell_unknown());
    why_put(&line, "threshold", cell_string(threshold->name));
    why_put(&line, "limit", cell_decimal(finding->limit, 2));
    why_put(&line, "value_is", cell_sentence(finding->what));
    why_end(&line);
}

/* ---- other tasks ---- */

static void put_pairs(const struct top *top, const struct judged_process *process, bool victims,
                      struct out *out)
{
    const struct pair *pairs[NAMED];
    size_t n = culprit_pairs(top, victims ? 0 : process->key, victims ? process->key : 0, pairs, NAMED);

    for (size_t i = 0; i < n; i++) {
        struct line line = why_begin(process, out);
        char name[CULPRIT_NAME];
        culprit_name(top, victims ? pairs[i]->victim : pairs[i]->aggressor, name, sizeof name);
        why_put(&line, victims ? "kept_waiting" : "waited_for", cell_string(name));
        why_put(&line, "wait_ms", cell_milliseconds(pairs[i]->ns));
        why_put(&line, "count", cell_unsigned((uint64_t)pairs[i]->count));
        why_put(&line, "kind", cell_string(pairs[i]->preempt ? "preempt" : "wakeup"));
        why_end(&line);
    }
}

static void put_family(const struct top *top, const struct judged_process *process, struct out *out)
{
    struct line line = why_begin(process, out);
    double ns;
    bool own;
    const struct family *family =
        process->verdict == VERDICT_STARVED ? starved_family(top, process, &ns, &own) : NULL;
    char name[CULPRIT_NAME];

    if (!family)
        return;
    kin_name(top, family, name, sizeof name);
    why_put(&line, "family", cell_string(name));
    why_put(&line, "wait_ms", cell_decimal(ns / 1e6, 3));
    why_put(&line, "runnable", cell_decimal(family->wants / top->process_table.window, 2));
    why_put(&line, "own", cell_string(own ? "yes" : "no"));
    why_end(&line);
}

/* ---- resources ---- */

static struct cell why_name_of(const struct cgroup_name *name)
{
    return name->length ? cell_bytes(name->text, name->length) : cell_unknown();
}

static void put_quota(const struct judged_process *process, const struct cgroup_cpu *cpu, struct out *out)
{
    struct line line = why_begin(process, out);

    if (!cpu->known || !cpu->tightest.length)
        return;
    why_put(&line, "cpu_cgroup", why_name_of(&cpu->path));
    why_put(&line, "quota_cgroup", why_name_of(&cpu->tightest));
    why_put(&line, "quota_cpus", cell_decimal(cpu->cpus, 3));
    why_put(&line, "throttled_cgroup", why_name_of(&cpu->throttled));
    why_put(&line, "throttled_periods_pct",
            cpu->since_known ? cell_decimal(100 * cpu->throttled_share, 1) : cell_unknown());
    why_end(&line);
}

static void put_limit(const struct judged_process *process, const struct cgroup_memory *memory,
                      struct out *out)
{
    struct line line = why_begin(process, out);

    if (!memory->known || !memory->tightest.length)
        return;
    why_put(&line, "memory_cgroup", why_name_of(&memory->path));
    why_put(&line, "limit_cgroup", why_name_of(&memory->tightest));
    why_put(&line, "limit_kib", cell_unsigned(memory->limit / 1024));
    why_put(&line, "used_kib", cell_unsigned(memory->used / 1024));
    why_put(&line, "headroom_kib", cell_unsigned(memory->headroom / 1024));
    why_put(&line, "at_limit", cell_string(memory->at_limit ? "yes" : "no"));
    why_put(&line, "ran_into_limit",
            memory->since_known ? cell_unsigned(memory->reclaims_since) : cell_unknown());
    why_put(&line, "oom_kills", cell_unsigned(memory->oom_kills));
    why_end(&line);
}

static void put_outlook(const struct top *top, const struct judged_process *process, struct out *out)
{
    struct growth_rate own = growth_rate(&process->growth);
    struct line line = why_begin(process, out);
    struct oom_end nearest;

    if (!own.span_s)
        return;
    oom_forecast_nearest(top->oom_forecast, top, process, &nearest);
    why_put(&line, "growth_kib_s", cell_decimal(own.bytes_s / 1024, 1));
    why_put(&line, "sustained", cell_string(own.sustained ? "yes" : "no"));
    why_put(&line, "of", nearest.path.length ? why_name_of(&nearest.path) : cell_string("[host-memory]"));
    why_put(&line, "of_growth_kib_s",
            nearest.rate.span_s > 0 ? cell_decimal(nearest.rate.bytes_s / 1024, 1) : cell_unknown());
    why_put(&line, "of_headroom_kib", cell_unsigned(nearest.headroom / 1024));
    why_put(&line, "seconds_left", nearest.seconds >= 0 ? cell_decimal(nearest.seconds, 1) : cell_unknown());
    why_end(&line);
}

static void put_disk(const struct top *top, const struct judged_process *process, struct out *out)
{
    struct line line = why_begin(process, out);
    struct disk_use use;

    if (!top->disks || !disks_of(top->disks, process->key, &use))
        return;
    why_put(&line, "device", cell_string(use.disk.name));
    why_put(&line, "reads", cell_unsigned(use.reads));
    why_put(&line, "writes", cell_unsigned(use.writes));
    why_put(&line, "kib", cell_unsigned(use.bytes / 1024));
    why_end(&line);
}

static void put_pressure(const struct judged_process *process, const struct cgroup *group, struct out *out)
{
    static const char *const names[PRESSURES] = {"psi_cpu_pct", "psi_mem_pct", "psi_io_pct"};
    struct line line = why_begin(process, out);

    if (!group->unified.length || !group->earlier_ns || !group->pressure[PRESSURE_CPU].known)
        return;
    why_put(&line, "pressure_cgroup", why_name_of(&group->unified));
    for (int i = 0; i < PRESSURES; i++) {
        double pct =
            pressure_pct(&group->earlier[i], &group->pressure[i], group->read_ns - group->earlier_ns);
        why_put(&line, names[i], pct >= 0 ? cell_decimal(pct, 2) : cell_unknown());
    }
    why_end(&line);
}

struct putting {
    const struct judged_process *process;
    struct out *out;
};

static void put_function(void *context, const struct merged_stack *stack, const char *function,
                         const char *call)
{
    const struct putting *putting = context;
    struct line line = why_begin(putting->process, putting->out);

    why_put(&line, "function", cell_string(function));
    why_put(&line, "kind", cell_string(stack_kinds[stack->kind]));
    why_put(&line, "call", cell_string(call));
    why_put(&line, "ms", cell_milliseconds((int64_t)stack->ns));
    why_put(&line, "count", cell_unsigned(stack->count));
    why_end(&line);
}

void top_why(const struct top *top, const struct judged_process *process, struct out *out)
{
    const struct cgroup *group = top_group(top, process->key);
    struct line line = why_begin(process, out);
    struct judgement judgement;

    judge(&process->judged, &process->outlook, top->context->options->thresholds, &judgement);
    why_put(&line, "verdict", cell_string(verdict_names[process->verdict]));
    why_put(&line, "span_ms", cell_decimal(process->judged.span / 1e6, 3));
    why_put(&line, "active_ms", cell_decimal(judgement.active / 1e6, 3));
    why_put(&line, "busiest_ms", cell_decimal(process->judged.busiest / 1e6, 3));
    why_put(&line, "caused_ms", cell_decimal(process->judged.caused / 1e6, 3));
    why_put(&line, "own_wait_ms", cell_decimal(process->judged.own_wait / 1e6, 3));
    why_put(&line, "largest_share", cell_string(judgement.largest_share ? "yes" : "no"));
    why_put(&line, "majors", cell_decimal(process->judged.majors, 1));
    why_end(&line);
    put_times(process, &judgement, out);
    for (int i = 0; i < RULES; i++)
        put_finding(process, &judgement.findings[i], out);
    put_pairs(top, process, false, out);
    put_family(top, process, out);
    put_pairs(top, process, true, out);
    if (group) {
        put_quota(process, &group->cpu, out);
        put_limit(process, &group->memory, out);
        put_pressure(process, group, out);
    }
    put_outlook(top, process, out);
    put_disk(top, process, out);
    functions_each(top, process, put_function, &(struct putting){process, out});
}
