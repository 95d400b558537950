// SPDX-License-Identifier: GPL-2.0-only
/* The lossless time series of chosen processes: one row a window and process, also where it did nothing. */
#include <errno.h>
#include <stdlib.h>
#include "host/targets.h"
#include "metric/oncpu.h"
#include "metric/oncpu_load.h"

static const struct column columns[] = {
    COLUMN("t_ms", 10, DIM, "begin of the window since the start of the run"),
    COLUMN("pid", 7, TASK, "process"),
    COLUMN("cpu_pct", 7, SUM, "on-CPU time by the window's length; 100 is one CPU"),
    COLUMN("run_ms", 10, SUM, "on-CPU time in the window"),
    COLUMN("switches", 8, SUM, "times it left a CPU in the window"),
    COLUMN("comm", -15, TASK, "name"),
};
#define COLUMNS (sizeof columns / sizeof *columns)

struct track {
    struct oncpu *oncpu;
    const struct metric_context *context;
    struct tally_entry *sums; /* a target */
};

extern const struct metric track_metric;

static void track_close(void *state)
{
    struct track *track = state;

    oncpu_close(track->oncpu);
    free(track->sums);
    free(track);
}

static int track_open(void **state, const struct metric_context *context, struct hook_report hooks[MAX_HOOKS],
                      struct why *w)
{
    struct track *track = calloc(1, sizeof *track);

    if (!track)
        return why(w, -ENOMEM, "out of memory");
    track->context = context;
    track->sums = calloc(context->targets->n + 1, sizeof *track->sums);
    int err =
        track->sums ? oncpu_open(&track->oncpu, context, 0, hooks, w) : why(w, -ENOMEM, "out of memory");
    if (err) {
        track_close(track);
        return err;
    }
    *state = track;
    return 0;
}

static void track_turn(void *state)
{
    oncpu_turn(((struct track *)state)->oncpu);
}

static int track_collect(void *state, const struct window *window, struct why *w)
{
    return oncpu_collect(((struct track *)state)->oncpu, window->end_mono, w);
}

static uint64_t track_lost(void *state)
{
    return oncpu_totals(((struct track *)state)->oncpu)->lost;
}

/* Adds up what the tally has of each target: threads, where threads are counted, make one row. */
static void sum_up(const struct track *track, struct tally_entry *sums)
{
    const struct targets *targets = track->context->targets;
    const struct tally *tally = oncpu_tally(track->oncpu);

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

    sum_up(track, track->sums);
    for (size_t i = 0; i < targets->n; i++) {
        const struct tally_entry *sum = &track->sums[i];
        if (oncpu_hides(track->oncpu, sum->key, window->end_mono))
            continue;
        const struct name *name = oncpu_name(track->oncpu, sum->key, window->end_mono);
        const struct cell cells[COLUMNS] = {
            cell_decimal((double)window->begin_offset / 1e6, 3),
            cell_unsigned(targets->list[i].pid),
            cell_decimal(100 * (double)sum->weight / length, 2),
            cell_decimal((double)sum->weight / 1e6, 3),
            cell_unsigned((uint64_t)sum->count),
            name->comm_length ? cell_bytes(name->comm, name->comm_length) : cell_unknown(),
        };
        out_row_of(out, &track_metric.view, cells, &(struct row_keys){.key = sum->key});
    }
    oncpu_shown(track->oncpu);
}

static void track_cost(void *state, struct program_cost *cost)
{
    oncpu_cost(((struct track *)state)->oncpu, cost);
}

const struct metric track_metric = {
    .name = "track",
    .summary = "lossless time series of given processes, down to windows of 1 ms",
    .view = {"track", columns, COLUMNS},
    .order = "run_ms",
    .of_targets = true,
    .ways = {oncpu_ways},
    .open = track_open,
    .turn = track_turn,
    .collect = track_collect,
    .lost = track_lost,
    .rows = track_rows,
    .cost = track_cost,
    .close = track_close,
};
