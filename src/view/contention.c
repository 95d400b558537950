// SPDX-License-Identifier: GPL-2.0-only
/* Which task waited for a CPU because of which other. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "host/targets.h"
#include "source/sched/sched.h"
#include "view/sched_cells.h"
#include "source/sched/waits.h"
#include "view/view.h"

struct contention {
    struct sched *sched;
    const struct source_context *context;
    const struct pair **top;
};

#define CONTENTION_COLUMNS(X)                                                                                \
    X(victim, 7, NONE, TASK, NARROW, "process that was runnable and waited for a CPU")                       \
    X(aggressor, 9, NONE, TASK, SUBJECT, "process that ran there in the meantime")                           \
    X(wait_ms, 10, MS, SUM, NARROW_RANKED, "time that the victim waited for them in the window")             \
    X(wait_max_us, 12, US, MAX, DEFAULT, "the longest of them")                                              \
    X(count, 8, COUNT, SUM, WIDE, "timeslices of the aggressor that the victim waited for")                  \
    X(victim_tid, 10, NONE, TASK, WIDE, "the victim's thread, with -t")                                      \
    X(tid, 7, NONE, TASK, WIDE, "the aggressor's thread, with -t")                                           \
    X(kind, -7, NONE, DIM, NARROW, "preempt: the victim was preempted; wakeup: it had slept")                \
    X(victim_comm, -15, NONE, TASK, NARROW, "the victim's name")                                             \
    X(comm, -15, NONE, TASK, NARROW, "the aggressor's name; [in brackets] if it is no process")
COLUMN_TABLE(CONTENTION_COLUMNS);

static void contention_close(void *state)
{
    struct contention *contention = state;

    free(contention->top);
    free(contention);
}

static int contention_open(void **state, const struct source_context *context, struct error *why)
{
    struct contention *contention = calloc(1, sizeof *contention);

    if (!contention)
        return error_set(why, -ENOMEM, "out of memory");
    contention->context = context;
    contention->top = calloc(context->options->top, sizeof *contention->top);
    if (!contention->top) {
        contention_close(contention);
        return error_set(why, -ENOMEM, "out of memory");
    }
    contention->sched = sched_of(context);
    *state = contention;
    return 0;
}

static const struct waits *waits_of(const struct contention *contention)
{
    return sched_waits(contention->sched);
}

static size_t contention_fields(void *state, struct field *fields, size_t n)
{
    const struct waits_totals *totals = waits_totals(waits_of(state));
    const struct field all[] = {
        {"wait_ms", cell_milliseconds(totals->wait_ns)},
        {"wait_lost_ms", cell_milliseconds(totals->lost_ns)},
    };

    return fields_copy(fields, n, all, sizeof all / sizeof *all);
}

/* ---- rows ---- */

/* One side of a row; the name is valid as long as the row. */
struct party_cells {
    struct cell pid, tid, comm;
    struct name name;
};

static void describe(const struct contention *contention, uint64_t key, uint64_t now,
                     struct party_cells *cells)
{
    const char *bracketed = waits_no_process(key);

    cells->pid = cells->tid = cell_unknown();
    cells->comm = cell_string(bracketed);
    if (bracketed)
        return;
    cells->name = *sched_name(contention->sched, key, now);
    cells->pid = cell_unsigned(key_process(key));
    if (contention->context->options->threads)
        cells->tid = cell_unsigned(key_thread(key));
    if (cells->name.comm_length)
        cells->comm = cell_bytes(cells->name.comm, cells->name.comm_length);
}

extern const struct view contention_view;

static void put_contention_row(const struct contention *contention, uint64_t now, struct out *out,
                               const struct pair *pair)
{
    struct party_cells victim, aggressor;

    describe(contention, pair->victim, now, &victim);
    describe(contention, pair->aggressor, now, &aggressor);
    const struct cell cells[COLUMNS] = {
        [COL_victim] = victim.pid,
        [COL_aggressor] = aggressor.pid,
        [COL_count] = cell_unsigned((uint64_t)pair->count),
        [COL_wait_ms] = cell_milliseconds(pair->ns),
        [COL_wait_max_us] = cell_decimal((double)pair->most_ns / 1e3, 1),
        [COL_kind] = cell_string(pair->preempt ? "preempt" : "wakeup"),
        [COL_victim_tid] = victim.tid,
        [COL_tid] = aggressor.tid,
        [COL_victim_comm] = victim.comm,
        [COL_comm] = aggressor.comm,
    };
    out_row_of(out, &contention_view.schema, cells,
               &(struct row_keys){.key = pair->aggressor, .victim = pair->victim});
}

/* The context of contention_is_wanted(). */
struct asked {
    const struct contention *contention;
    uint64_t now;
};

/* With -p, one side is a process asked for. With --no-kernel the victim is no kernel thread; the aggressor
 * may be. */
static bool contention_is_wanted(const void *context, const struct pair *pair)
{
    const struct asked *asked = context;
    const struct targets *targets = asked->contention->context->targets;

    if (targets->n && !targets_find(targets, pair->victim) && !targets_find(targets, pair->aggressor))
        return false;
    return !sched_hides(asked->contention->sched, pair->victim, asked->now);
}

static void contention_rows(void *state, const struct window *window, struct out *out)
{
    const struct contention *contention = state;
    const struct asked asked = {contention, window->end_mono};
    size_t n = pairs_top(waits_pairs(waits_of(contention)), contention->top,
                         contention->context->options->top, contention_is_wanted, &asked);

    for (size_t i = 0; i < n; i++)
        put_contention_row(contention, window->end_mono, out, contention->top[i]);
}

const struct view contention_view = {
    .name = "contention",
    .summary = "which process waits for a CPU because of which other",
    .schema = {.name = "contention", .columns = columns, .ncolumns = COLUMNS, .order = "wait_ms"},
    .sources = {{&sched_source, SCHED_WAITS | SCHED_PAIRS | SCHED_STRICT, false}},
    .open = contention_open,
    .fields = contention_fields,
    .rows = contention_rows,
    .close = contention_close,
};
