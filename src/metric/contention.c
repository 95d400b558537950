// SPDX-License-Identifier: GPL-2.0-only
/* Who waited for a CPU because of whom. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cpu.types.h"
#include "host/targets.h"
#include "metric/oncpu.h"
#include "metric/oncpu_cells.h"
#include "metric/waits.h"

struct contention {
    struct oncpu *oncpu;
    const struct metric_context *context;
    const struct pair **top;
};

static const struct column columns[] = {
    COLUMN("rank", 4, NONE, "place by wait_ms, 1 first"),
    COLUMN("victim", 7, TASK, "process that could have run, and waited for a CPU"),
    COLUMN("aggressor", 9, TASK, "process that ran there meanwhile"),
    COLUMN("count", 8, SUM, "stints of the aggressor that the victim waited for"),
    COLUMN("wait_ms", 10, SUM, "time that the victim waited for them in the window"),
    COLUMN("wait_max_us", 12, MAX, "the longest of them"),
    COLUMN("kind", -7, DIM, "preempt: the victim was thrown off its CPU; wakeup: it had slept"),
    COLUMN("victim_tid", 10, TASK, "the victim's thread, with -t"),
    COLUMN("tid", 7, TASK, "the aggressor's thread, with -t"),
    COLUMN("victim_comm", -15, TASK, "the victim's name"),
    COLUMN("comm", -15, TASK, "the aggressor's name; what is no process is in brackets"),
};
#define COLUMNS (sizeof columns / sizeof *columns)

static void contention_close(void *state)
{
    struct contention *contention = state;

    oncpu_close(contention->oncpu);
    free(contention->top);
    free(contention);
}

static int contention_open(void **state, const struct metric_context *context,
                           struct hook_report hooks[MAX_HOOKS], struct why *w)
{
    struct contention *contention = calloc(1, sizeof *contention);

    if (!contention)
        return why(w, -ENOMEM, "out of memory");
    contention->context = context;
    contention->top = calloc(context->options->top, sizeof *contention->top);
    int err = contention->top ? oncpu_open(&contention->oncpu, context,
                                           ONCPU_WAITS | ONCPU_PAIRS | ONCPU_STRICT, hooks, w)
                              : why(w, -ENOMEM, "out of memory");
    if (err) {
        contention_close(contention);
        return err;
    }
    *state = contention;
    return 0;
}

static const struct waits *waits_of(const struct contention *contention)
{
    return oncpu_waits(contention->oncpu);
}

static void contention_turn(void *state)
{
    oncpu_turn(((struct contention *)state)->oncpu);
}

static int contention_collect(void *state, const struct window *window, struct why *w)
{
    return oncpu_collect(((struct contention *)state)->oncpu, window->end_mono, w);
}

static uint64_t contention_lost(void *state)
{
    return oncpu_waits_lost(((struct contention *)state)->oncpu);
}

static size_t contention_fields(void *state, struct field *fields, size_t n)
{
    const struct waits_totals *totals = waits_totals(waits_of(state));
    const struct field all[] = {
        {"wait_ms", cell_milliseconds(totals->wait_ns)},
        {"wait_lost_ms", cell_milliseconds(totals->lost_ns)},
    };
    size_t i = 0;

    for (; i < n && i < sizeof all / sizeof *all; i++)
        fields[i] = all[i];
    return i;
}

/* ---- rows ---- */

/* What a row says of one side; the name lives as long as the row. */
struct side_cells {
    struct cell pid, tid, comm;
    struct name name;
};

static void describe(const struct contention *contention, uint64_t key, uint64_t now,
                     struct side_cells *cells)
{
    const char *bracketed = waits_no_process(key);

    cells->pid = cells->tid = cell_unknown();
    cells->comm = cell_string(bracketed);
    if (bracketed)
        return;
    cells->name = *oncpu_name(contention->oncpu, key, now);
    cells->pid = cell_unsigned(key_process(key));
    if (contention->context->options->threads)
        cells->tid = cell_unsigned(key_thread(key));
    if (cells->name.comm_length)
        cells->comm = cell_bytes(cells->name.comm, cells->name.comm_length);
}

extern const struct metric contention_metric;

static void row(const struct contention *contention, uint64_t now, struct out *out, size_t rank,
                const struct pair *pair)
{
    struct side_cells victim, aggressor;

    describe(contention, pair->victim, now, &victim);
    describe(contention, pair->aggressor, now, &aggressor);
    const struct cell cells[COLUMNS] = {
        cell_unsigned(rank),
        victim.pid,
        aggressor.pid,
        cell_unsigned((uint64_t)pair->count),
        cell_milliseconds(pair->ns),
        cell_decimal((double)pair->most_ns / 1e3, 1),
        cell_string(pair->preempt ? "preempt" : "wakeup"),
        victim.tid,
        aggressor.tid,
        victim.comm,
        aggressor.comm,
    };
    out_row_of(out, &contention_metric.view, cells,
               &(struct row_keys){.key = pair->aggressor, .victim = pair->victim});
}

/* Of whom rows are asked, and when. */
struct asked {
    const struct contention *contention;
    uint64_t now;
};

/* With -p: a process asked for on either side. With --no-kernel: a victim that is a process; who made it wait
 * is told whoever it is. */
static bool is_wanted(const void *context, const struct pair *pair)
{
    const struct asked *asked = context;
    const struct targets *targets = asked->contention->context->targets;

    if (targets->n && !targets_find(targets, pair->victim) && !targets_find(targets, pair->aggressor))
        return false;
    return !oncpu_hides(asked->contention->oncpu, pair->victim, asked->now);
}

static void contention_rows(void *state, const struct window *window, struct out *out)
{
    const struct contention *contention = state;
    const struct asked asked = {contention, window->end_mono};
    size_t n = pairs_top(waits_pairs(waits_of(contention)), contention->top,
                         contention->context->options->top, is_wanted, &asked);

    for (size_t i = 0; i < n; i++)
        row(contention, window->end_mono, out, i + 1, contention->top[i]);
    oncpu_shown(contention->oncpu);
}

static void contention_cost(void *state, struct program_cost *cost)
{
    oncpu_cost(((struct contention *)state)->oncpu, cost);
}

const struct metric contention_metric = {
    .name = "contention",
    .summary = "who waits for a CPU because of whom",
    .view = {"contention", columns, COLUMNS},
    .order = "wait_ms",
    .ways = {contention_ways},
    .open = contention_open,
    .turn = contention_turn,
    .collect = contention_collect,
    .lost = contention_lost,
    .fields = contention_fields,
    .rows = contention_rows,
    .cost = contention_cost,
    .close = contention_close,
};
