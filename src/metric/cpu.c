// SPDX-License-Identifier: GPL-2.0-only
/* Top-K on-CPU time: who ran, for how long, and how often he left the CPU. */
#include <errno.h>
#include <stdlib.h>
#include "cpu.types.h"
#include "host/targets.h"
#include "metric/oncpu.h"
#include "metric/oncpu_cells.h"
#include "metric/oncpu_load.h"
#include "metric/pinned_cpu.h"

struct cpu {
    struct oncpu *oncpu;
    struct pinned_cpu *pinned; /* instead of it, where another hog counts */
    const struct metric_context *context;
    const struct tally_entry **top;
};

static const struct column columns[] = {
    COLUMN("rank", 4, NONE, "place by run_ms, 1 first"),
    COLUMN("pid", 7, TASK, "process"),
    COLUMN("uid", 6, TASK, "effective user id"),
    COLUMN("cpu_pct", 7, SUM, "on-CPU time by the window's length; 100 is one CPU"),
    COLUMN("run_ms", 10, SUM, "on-CPU time in the window, the running stint up to the window's end included"),
    COLUMN("switches", 8, SUM, "times it left a CPU in the window"),
    COLUMN("tid", 7, TASK, "thread, with -t"),
    COLUMN("wait_ms", 10, SUM, "time that it could have run and waited for a CPU, up to the window's end"),
    COLUMN("wait_count", 10, SUM, "waits for a CPU that ended in the window"),
    COLUMN("wait_p50_us", 11, NONE, "half of them were no longer"),
    COLUMN("wait_p99_us", 11, NONE, "99 of 100 were no longer"),
    COLUMN("wait_max_us", 11, MAX, "the longest of them"),
    COLUMN("comm", -15, TASK, "name"),
};
#define COLUMNS (sizeof columns / sizeof *columns)

static void cpu_close(void *state)
{
    struct cpu *cpu = state;

    oncpu_close(cpu->oncpu);
    pinned_cpu_close(cpu->pinned);
    free(cpu->top);
    free(cpu);
}

static int count(struct cpu *cpu, const struct metric_context *context, struct hook_report hooks[MAX_HOOKS],
                 struct why *w)
{
    return context->options->pinned ? pinned_cpu_open(&cpu->pinned, context, w)
                                    : oncpu_open(&cpu->oncpu, context, ONCPU_WAITS | ONCPU_TIMES, hooks, w);
}

static int cpu_open(void **state, const struct metric_context *context, struct hook_report hooks[MAX_HOOKS],
                    struct why *w)
{
    struct cpu *cpu = calloc(1, sizeof *cpu);

    if (!cpu)
        return why(w, -ENOMEM, "out of memory");
    cpu->context = context;
    cpu->top = calloc(context->options->top, sizeof *cpu->top);
    int err = cpu->top ? count(cpu, context, hooks, w) : why(w, -ENOMEM, "out of memory");
    if (err) {
        cpu_close(cpu);
        return err;
    }
    *state = cpu;
    return 0;
}

static void cpu_turn(void *state)
{
    struct cpu *cpu = state;

    if (cpu->pinned)
        pinned_cpu_turn(cpu->pinned);
    else
        oncpu_turn(cpu->oncpu);
}

static int cpu_collect(void *state, const struct window *window, struct why *w)
{
    struct cpu *cpu = state;

    return cpu->pinned ? pinned_cpu_collect(cpu->pinned, w) : oncpu_collect(cpu->oncpu, window->end_mono, w);
}

static const struct tally *tally_of(const struct cpu *cpu)
{
    return cpu->pinned ? pinned_cpu_tally(cpu->pinned) : oncpu_tally(cpu->oncpu);
}

static uint64_t cpu_lost(void *state)
{
    struct cpu *cpu = state;

    return cpu->pinned ? pinned_cpu_totals(cpu->pinned)->lost : oncpu_lost(cpu->oncpu);
}

static size_t cpu_fields(void *state, struct field *fields, size_t n)
{
    const struct cpu *cpu = state;
    const struct oncpu_totals *totals =
        cpu->pinned ? pinned_cpu_totals(cpu->pinned) : oncpu_totals(cpu->oncpu);

    return oncpu_fields_of(totals, tally_of(cpu), fields, n);
}

static const struct name *name_of(const struct cpu *cpu, uint64_t key, uint64_t now)
{
    return cpu->pinned ? pinned_cpu_name(cpu->pinned, key, now) : oncpu_name(cpu->oncpu, key, now);
}

/* Waits are not pinned. */
static struct waited waited_of(const struct cpu *cpu, uint64_t key)
{
    const struct cell none = cell_unknown();

    return cpu->pinned ? (struct waited){none, none, none, none, none} : oncpu_waited(cpu->oncpu, key);
}

static void row(struct cpu *cpu, const struct window *window, struct out *out, const struct view *view,
                size_t rank, const struct tally_entry *entry)
{
    static const struct name all_outside = {.comm = "[outside]", .comm_length = sizeof "[outside]" - 1};
    bool outside = entry->key == HOG_KEY_OUTSIDE, threads = cpu->context->options->threads;
    const struct name *name = outside ? &all_outside : name_of(cpu, entry->key, window->end_mono);
    double length = (double)(window->end_mono - window->begin_mono);
    const struct waited wait = waited_of(cpu, entry->key);
    const struct cell cells[COLUMNS] = {
        cell_unsigned(rank),
        outside ? cell_unknown() : cell_unsigned(key_process(entry->key)),
        name->uid_known ? cell_unsigned(name->uid) : cell_unknown(),
        cell_decimal(100 * (double)entry->weight / length, 2),
        cell_milliseconds(entry->weight),
        cell_unsigned((uint64_t)entry->count),
        threads && !outside ? cell_unsigned(key_thread(entry->key)) : cell_unknown(),
        wait.ms,
        wait.count,
        wait.p50_us,
        wait.p99_us,
        wait.max_us,
        name->comm_length ? cell_bytes(name->comm, name->comm_length) : cell_unknown(),
    };

    out_row_of(out, view, cells, &(struct row_keys){.key = entry->key});
}

extern const struct metric cpu_metric;

/* Of whom rows are asked, and when. */
struct asked {
    const struct cpu *cpu;
    uint64_t now;
};

static bool is_wanted(const void *context, const struct tally_entry *entry)
{
    const struct asked *asked = context;

    return !asked->cpu->context->options->no_kernel || !key_process(entry->key) ||
           !name_of(asked->cpu, entry->key, asked->now)->kernel;
}

static void cpu_rows(void *state, const struct window *window, struct out *out)
{
    struct cpu *cpu = state;
    const struct options *options = cpu->context->options;
    const struct targets *targets = cpu->context->targets;
    const struct tally *tally = tally_of(cpu);
    const struct asked asked = {cpu, window->end_mono};
    size_t rank = 1, n = tally_top(tally, cpu->top, options->top, is_wanted, &asked);

    for (size_t i = 0; i < n; i++)
        row(cpu, window, out, &cpu_metric.view, rank++, cpu->top[i]);
    /* Who was asked for is shown, even if he did nothing. */
    for (size_t i = 0; i < targets->n && !options->threads && rank <= options->top; i++) {
        struct tally_entry none = {.key = key_make(targets->list[i].pid, 0, targets->list[i].start_ns)};
        bool shown = !is_wanted(&asked, &none);
        for (size_t j = 0; j < n && !shown; j++)
            shown = key_process(cpu->top[j]->key) == targets->list[i].pid;
        if (!shown)
            row(cpu, window, out, &cpu_metric.view, rank++, &none);
    }
    if (cpu->oncpu)
        oncpu_shown(cpu->oncpu);
}

static void cpu_cost(void *state, struct program_cost *cost)
{
    const struct cpu *cpu = state;

    if (cpu->oncpu)
        oncpu_cost(cpu->oncpu, cost);
}

const struct metric cpu_metric = {
    .name = "cpu",
    .summary = "Top-K on-CPU time",
    .view = {"cpu", columns, COLUMNS},
    .order = "run_ms",
    .ways = {oncpu_ways},
    .open = cpu_open,
    .turn = cpu_turn,
    .collect = cpu_collect,
    .lost = cpu_lost,
    .fields = cpu_fields,
    .rows = cpu_rows,
    .cost = cpu_cost,
    .close = cpu_close,
    .pin = pinned_cpu_load,
};
