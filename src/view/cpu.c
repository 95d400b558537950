// SPDX-License-Identifier: GPL-2.0-only
/* Top-K on-CPU time: which task ran, for how long, and how often it left the CPU. */
#include <errno.h>
#include <stdlib.h>
#include "shared.types.h"
#include "host/targets.h"
#include "source/sched/sched.h"
#include "view/sched_cells.h"
#include "source/sched/load.h"
#include "source/sched/pinned.h"
#include "view/view.h"
#include "view/task_cells.h"

struct cpu {
    struct sched *sched;
    struct pinned_cpu *pinned; /* replaces `sched` when another hog counts */
    const struct source_context *context;
    const struct tally_entry **top;
};

#define CPU_COLUMNS(X)                                                                                       \
    X(pid, 7, NONE, TASK, NARROW, "process")                                                                 \
    X(cpu_pct, 7, PCT, SUM, NARROW_RANKED, "on-CPU time in percent of the window; 100 is one CPU")           \
    X(run_ms, 10, MS, SUM, NARROW,                                                                           \
      "on-CPU time in the window, the running timeslice up to the window's end included")                    \
    X(switches, 8, COUNT, SUM, DEFAULT, "times it left a CPU in the window")                                 \
    X(wait_ms, 10, MS, SUM, NARROW,                                                                          \
      "time that it was runnable and waited for a CPU, up to the window's end")                              \
    X(wait_p99_us, 11, US, NONE, NARROW, "99 of 100 were no longer")                                         \
    X(wait_count, 10, COUNT, SUM, WIDE, "waits for a CPU that ended in the window")                          \
    X(wait_p50_us, 11, US, NONE, WIDE, "half of them were no longer")                                        \
    X(wait_max_us, 11, US, MAX, WIDE, "the longest of them")                                                 \
    X(uid, 6, NONE, TASK, WIDE, "effective user id")                                                         \
    X(tid, 7, NONE, TASK, WIDE, "thread, with -t")                                                           \
    X(comm, -15, NONE, TASK, NARROW, "name")
COLUMN_TABLE(CPU_COLUMNS);

static void cpu_close(void *state)
{
    struct cpu *cpu = state;

    free(cpu->top);
    free(cpu);
}

static int cpu_open(void **state, const struct source_context *context, struct error *why)
{
    struct cpu *cpu = calloc(1, sizeof *cpu);

    if (!cpu)
        return error_set(why, -ENOMEM, "out of memory");
    cpu->context = context;
    cpu->sched = sched_of(context);
    cpu->pinned = pinned_cpu_of(context);
    cpu->top = calloc(context->options->top, sizeof *cpu->top);
    if (!cpu->top) {
        cpu_close(cpu);
        return error_set(why, -ENOMEM, "out of memory");
    }
    *state = cpu;
    return 0;
}

static const struct tally *tally_of(const struct cpu *cpu)
{
    return cpu->pinned ? pinned_cpu_tally(cpu->pinned) : sched_tally(cpu->sched);
}

static size_t cpu_fields(void *state, struct field *fields, size_t n)
{
    const struct cpu *cpu = state;
    const struct sched_totals *totals =
        cpu->pinned ? pinned_cpu_totals(cpu->pinned) : sched_totals(cpu->sched);

    size_t used = sched_fields_of(totals, tally_of(cpu), fields, n);
    return cpu->pinned ? used : used + interrupt_fields(cpu->sched, fields + used, n - used);
}

static const struct name *cpu_name_of(const struct cpu *cpu, uint64_t key, uint64_t now)
{
    return cpu->pinned ? pinned_cpu_name(cpu->pinned, key, now) : sched_name(cpu->sched, key, now);
}

/* Waits are not among pinned counts. */
static struct waited waited_of(const struct cpu *cpu, uint64_t key)
{
    const struct cell none = cell_unknown();

    return cpu->pinned ? (struct waited){none, none, none, none, none} : sched_waited(cpu->sched, key);
}

static void put_cpu_row(struct cpu *cpu, const struct window *window, struct out *out,
                        const struct schema *view, const struct tally_entry *entry)
{
    bool outside = entry->key == HOG_KEY_OUTSIDE, threads = cpu->context->options->threads;
    const struct name *name = outside ? &name_outside : cpu_name_of(cpu, entry->key, window->end_mono);
    double length = (double)(window->end_mono - window->begin_mono);
    const struct waited wait = waited_of(cpu, entry->key);
    const struct cell cells[COLUMNS] = {
        [COL_pid] = outside ? cell_unknown() : cell_unsigned(key_process(entry->key)),
        [COL_uid] = cell_uid(name),
        [COL_cpu_pct] = cell_decimal(100 * (double)entry->weight / length, 2),
        [COL_run_ms] = cell_milliseconds(entry->weight),
        [COL_switches] = cell_unsigned((uint64_t)entry->count),
        [COL_tid] = threads && !outside ? cell_unsigned(key_thread(entry->key)) : cell_unknown(),
        [COL_wait_ms] = wait.ms,
        [COL_wait_count] = wait.count,
        [COL_wait_p50_us] = wait.p50_us,
        [COL_wait_p99_us] = wait.p99_us,
        [COL_wait_max_us] = wait.max_us,
        [COL_comm] = cell_comm(name),
    };

    out_row_of(out, view, cells, &(struct row_keys){.key = entry->key});
}

extern const struct view cpu_view;

/* The context of cpu_is_wanted(). */
struct asked {
    const struct cpu *cpu;
    uint64_t now;
};

static bool cpu_is_wanted(const void *context, const struct tally_entry *entry)
{
    const struct asked *asked = context;

    return !asked->cpu->context->options->no_kernel || !key_process(entry->key) ||
           !cpu_name_of(asked->cpu, entry->key, asked->now)->kernel;
}

static void cpu_rows(void *state, const struct window *window, struct out *out)
{
    struct cpu *cpu = state;
    const struct run_options *options = cpu->context->options;
    const struct targets *targets = cpu->context->targets;
    const struct tally *tally = tally_of(cpu);
    const struct asked asked = {cpu, window->end_mono};
    size_t n = tally_top(tally, cpu->top, options->top, cpu_is_wanted, &asked);

    for (size_t i = 0; i < n; i++)
        put_cpu_row(cpu, window, out, &cpu_view.schema, cpu->top[i]);
    /* A process asked for is shown even if it did nothing. */
    size_t written = n;
    for (size_t i = 0; i < targets->n && !options->threads && written < options->top; i++) {
        struct tally_entry none = {.key = key_make(targets->list[i].pid, 0, targets->list[i].start_ns)};
        bool shown = !cpu_is_wanted(&asked, &none);
        for (size_t j = 0; j < n && !shown; j++)
            shown = key_process(cpu->top[j]->key) == targets->list[i].pid;
        if (shown)
            continue;
        put_cpu_row(cpu, window, out, &cpu_view.schema, &none);
        written++;
    }
}

const struct view cpu_view = {
    .name = "cpu",
    .summary = "CPU time, and how long it waited for a CPU",
    .schema = {.name = "cpu", .columns = columns, .ncolumns = COLUMNS, .order = "run_ms"},
    .pinned_by_default = true,
    .sources = {{&sched_source, SCHED_RUN | SCHED_WAITS | SCHED_TIMES, false}},
    .pin_lacks = NEEDS_THREADS,
    .pinned = &pinned_cpu_source,
    .open = cpu_open,
    .fields = cpu_fields,
    .rows = cpu_rows,
    .close = cpu_close,
};
