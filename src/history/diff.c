/* SPDX-License-Identifier: GPL-2.0-only */
/* What has changed between two recordings. */
#include "history/report_private.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DIFF_COLUMNS(X)                                                                                      \
    X(of, -10, NONE, FIRST, DEFAULT, "the view")                                                             \
    X(column, -10, NONE, FIRST, DEFAULT, "what is compared")                                                 \
    X(rank, 4, NONE, NONE, DEFAULT, "by how much it has changed")                                            \
    X(before, 12, NONE, SUM, DEFAULT, "its mean over all the time that was recorded")                        \
    X(after, 12, NONE, SUM, DEFAULT, "the same of the other recording")                                      \
    X(change, 12, NONE, SUM, DEFAULT, "after - before")                                                      \
    X(change_pct, 10, PCT, NONE, DEFAULT, "of before")                                                       \
    X(before_peak, 12, NONE, MAX, DEFAULT, "the most in a window")                                           \
    X(after_peak, 12, NONE, MAX, DEFAULT, "the same of the other recording")                                 \
    X(comm, -1, NONE, TASK, DEFAULT, "name")
COLUMN_TABLE(DIFF_COLUMNS);
static const struct schema diff_view = {.name = "diff", .columns = columns, .ncolumns = COLUMNS};

/* One of both recordings, or of one. */
struct change {
    const struct series *before, *after;
    double was, is;
};

static const struct ranking *find_ranking(const struct digest *d, const struct ranking *like)
{
    for (unsigned i = 0; i < d->nrankings; i++)
        if (!strcmp(d->rankings[i].view, like->view) && !strcmp(d->rankings[i].column, like->column))
            return &d->rankings[i];
    return NULL;
}

static const struct series *find_series(const struct digest *d, const struct ranking *ranking,
                                        const char *name)
{
    for (unsigned i = 0; ranking && i < ranking->n; i++)
        if (!strcmp(d->series[ranking->first + i].name, name))
            return &d->series[ranking->first + i];
    return NULL;
}

static struct change change_of(const struct digest *before, const struct digest *after,
                               const struct series *a, const struct series *b)
{
    return (struct change){a, b, a && before->seconds > 0 ? a->area / before->seconds : 0,
                           b && after->seconds > 0 ? b->area / after->seconds : 0};
}

static int by_change(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    double of_x = fabs(x->is - x->was), of_y = fabs(y->is - y->was);

    return (of_x < of_y) - (of_x > of_y);
}

static void put_change(struct out *out, const struct ranking *ranking, const struct change *c, unsigned rank)
{
    const struct series *either = c->after ? c->after : c->before;
    const struct cell cells[COLUMNS] = {
        [COL_of] = cell_string(ranking->view),
        [COL_column] = cell_string(ranking->column),
        [COL_rank] = cell_unsigned(rank),
        [COL_before] = cell_decimal(c->was, 3),
        [COL_after] = cell_decimal(c->is, 3),
        [COL_change] = cell_decimal(c->is - c->was, 3),
        [COL_change_pct] = c->was > 0 ? cell_decimal(100 * (c->is - c->was) / c->was, 1) : cell_unknown(),
        [COL_before_peak] = c->before ? cell_decimal(c->before->peak, 3) : cell_unknown(),
        [COL_after_peak] = c->after ? cell_decimal(c->after->peak, 3) : cell_unknown(),
        [COL_comm] = either ? report_name(either->name) : cell_unknown(),
    };

    out_row(out, &diff_view, cells);
}

/* Those of a ranking that are in either recording. `of`: where the ranking is. */
static void put_changes(struct out *out, const struct digest *before, const struct digest *after,
                        const struct ranking *ranking, unsigned top)
{
    static struct change changes[2 * DIGEST_SERIES];
    const struct ranking *a = find_ranking(before, ranking), *b = find_ranking(after, ranking);
    size_t n = 0;

    for (unsigned i = 0; a && i < a->n; i++) {
        const struct series *s = &before->series[a->first + i];
        changes[n++] = change_of(before, after, s, find_series(after, b, s->name));
    }
    for (unsigned i = 0; b && i < b->n; i++) {
        const struct series *s = &after->series[b->first + i];
        if (!find_series(before, a, s->name))
            changes[n++] = change_of(before, after, NULL, s);
    }
    qsort(changes, n, sizeof *changes, by_change);
    for (unsigned i = 0; i < n && i < top; i++)
        put_change(out, ranking, &changes[i], i + 1);
}

static int put_diff(struct out *out, const struct digest d[2], const struct reader reader[2], unsigned top)
{
    report_note(out, &d[0], &reader[0]);
    report_note(out, &d[1], &reader[1]);
    for (unsigned i = 0; i < d[0].nrankings; i++)
        put_changes(out, &d[0], &d[1], &d[0].rankings[i], top);
    for (unsigned i = 0; i < d[1].nrankings; i++)
        if (!find_ranking(&d[0], &d[1].rankings[i]))
            put_changes(out, &d[0], &d[1], &d[1].rankings[i], top);
    return out_flush(out);
}

enum status report_diff(const struct report_options *o)
{
    struct digest d[2];
    struct reader reader[2];
    enum status status = STATUS_DONE;

    for (unsigned i = 0; i < 2; i++) {
        /* All there is room for: what is light in one may be heavy in the other. PIDs have changed by then.
         */
        d[i] = (struct digest){.named = true, .top = DIGEST_SERIES};
        reader[i] = (struct reader){.fd = -1};
        if (status == STATUS_DONE)
            status = report_read(o, i, &d[i], &reader[i]);
    }
    if (status == STATUS_DONE) {
        struct out *out = out_open(STDOUT_FILENO, o->format, o->header);
        status = out ? report_written(put_diff(out, d, reader, o->top)) : STATUS_FAILED;
        out_close(out);
    }
    for (unsigned i = 0; i < 2; i++) {
        digest_free(&d[i]);
        reader_close(&reader[i]);
    }
    return status;
}
