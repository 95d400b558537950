// SPDX-License-Identifier: GPL-2.0-only
/* Lossless time series of given processes: a row per window and process, even if idle. */
#include <errno.h>
#include <stdlib.h>
#include "host/targets.h"
#include "source/sched/sched.h"
#include "source/sched/load.h"
#include "view/view.h"
#include "view/task_cells.h"

#define TRACK_COLUMNS(X)                                                                                     \
    X(t_ms, 10, MS, DIM, NARROW, "start of the window since the start of the run")                           \
    X(pid, 7, NONE, TASK, NARROW, "process")                                                                 \
    X(cpu_pct, 7, PCT, SUM, NARROW_RANKED, "on-CPU time in percent of the window; 100 is one CPU")           \
    X(run_ms, 10, MS, SUM, NARROW, "on-CPU time in the window")                                              \
    X(switches, 8, COUNT, SUM, NARROW, "times it left a CPU in the window")                                  \
    X(comm, -15, NONE, TASK, NARROW, "name")
COLUMN_TABLE(TRACK_COLUMNS);

struct track {
    struct sched *sched;
    const struct source_context *context;
    struct tally_entry *sums; /* one per target */
};

extern const struct view track_view;

static void track_close(void *state)
{
    struct track *track = state;

    free(track->sums);
    free(track);
}

static int track_open(void **state, const struct source_context *context, struct error *why)
{
    struct track *track = calloc(1, sizeof *track);

    if (!track)
        return error_set(why, -ENOMEM, "out of memory");
    track->context = context;
    track->sums = calloc(context->targets->n + 1, sizeof *track->sums);
    if (!track->sums) {
        track_close(track);
        return error_set(why, -ENOMEM, "out of memory");
    }
    track->sched = sched_of(context);
    *state = track;
    return 0;
}

/* Sums of each target; its threads make one row. */
static void sum_targets(const struct track *track, struct tally_entry *sums)
{
    const struct targets *targets = track->context->targets;
    const struct tally *tally = sched_tally(track->sched);

    for (size_t i = 0; i < targets->n; i++)
        sums[i] = (struct tally_entry){.key = key_make(targets->list[i].pid, 0, targets->list[i].start_ns)};
    for (size_t i = 0; i < tally->capacity; i++) {
        const struct tally_entry *entry = &tally->table[i];
        const struct target *target = entry->key ? targets_find(targets, entry->key) : NULL;
        if (!target)
            continue;
        struct tally_entry *sum = &sums[target - targets->list];
        if (!key_thread(entry->key))
            sum->key = entry->key;
        sum->weight += entry->weight;
        sum->count += entry->count;
    }
}

static void track_rows(void *state, const struct window *window, struct out *out)
{
    struct track *track = state;
    const struct targets *targets = track->context->targets;
    double length = (double)(window->end_mono - window->begin_mono);

    sum_targets(track, track->sums);
    for (size_t i = 0, n = 0; i < targets->n && n < track->context->options->top; i++) {
        const struct tally_entry *sum = &track->sums[i];
        if (sched_hides(track->sched, sum->key, window->end_mono))
            continue;
        const struct name *name = sched_name(track->sched, sum->key, window->end_mono);
        const struct cell cells[COLUMNS] = {
            [COL_t_ms] = cell_decimal((double)window->begin_offset / 1e6, 3),
            [COL_pid] = cell_unsigned(targets->list[i].pid),
            [COL_cpu_pct] = cell_decimal(100 * (double)sum->weight / length, 2),
            [COL_run_ms] = cell_decimal((double)sum->weight / 1e6, 3),
            [COL_switches] = cell_unsigned((uint64_t)sum->count),
            [COL_comm] = cell_comm(name),
        };
        n += out_row_of(out, &track_view.schema, cells, &(struct row_keys){.key = sum->key});
    }
}

const struct view track_view = {
    .name = "track",
    .summary = "CPU time of given processes, in windows of 10 ms, without loss",
    .schema = {.name = "track", .columns = columns, .ncolumns = COLUMNS, .order = "run_ms"},
    .of_targets = true,
    .alone = true,
    .takes_pids = true,
    .interval_ns = 10 * OPTION_MS,
    .sources = {{&sched_source, SCHED_RUN, false}},
    .open = track_open,
    .rows = track_rows,
    .close = track_close,
};
