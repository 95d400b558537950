/* SPDX-License-Identifier: GPL-2.0-only */
#include "history/report.h"
#include "history/digest.h"
#include "history/html.h"
#include "base/quote.h"
#include "base/message.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LEN(a) (sizeof(a) / sizeof *(a))

static const struct column report_columns[] = {
    COLUMN("of", -10, FIRST, "the view"),
    COLUMN("column", -10, FIRST, "by which rows are ranked"),
    COLUMN("rank", 4, NONE, "from 1 in each ranking"),
    COLUMN("pid", 7, TASK, "of the process"),
    COLUMN("total", 12, SUM, "of all windows, in `unit`"),
    COLUMN("unit", -5, FIRST, "of the total"),
    COLUMN("mean", 10, NONE, "of the windows that have it"),
    COLUMN("p50", 10, NONE, "of these"),
    COLUMN("p95", 10, NONE, "of these"),
    COLUMN("p99", 10, NONE, "of these"),
    COLUMN("peak", 10, MAX, "the most in one"),
    COLUMN("peak_start", 27, FIRST, "when that one began"),
    COLUMN("windows", 7, SUM, "that have it"),
    COLUMN("verdict", -14, FIRST, "the most frequent"),
    COLUMN("verdict_windows", 7, SUM, "that have this verdict"),
    COLUMN("by", -20, FIRST, "the last culprit"),
    COLUMN("comm", -1, TASK, "name"),
};
static const struct schema report_view = {"report", report_columns, LEN(report_columns)};

static const struct column worst_columns[] = {
    COLUMN("of", -10, FIRST, "the view"),      COLUMN("column", -10, FIRST, "the column"),
    COLUMN("rank", 4, NONE, "from 1"),         COLUMN("start", 27, FIRST, "of the window"),
    COLUMN("sum", 10, SUM, "of all its rows"), COLUMN("most", 10, MAX, "of one of them"),
    COLUMN("pid", 7, TASK, "whose that is"),   COLUMN("comm", -1, TASK, "name"),
};
static const struct schema worst_view = {"worst", worst_columns, LEN(worst_columns)};

static struct cell name_cell(const char *text)
{
    return *text ? cell_string(text) : cell_unknown();
}

/* A number again; what hog has not written itself stays a name. */
static struct cell pid_cell(const char *text)
{
    uint64_t pid = 0;

    for (const char *p = text; *p; p++) {
        if (*p < '0' || *p > '9')
            return cell_string(text);
        pid = pid * 10 + (uint64_t)(*p - '0');
    }
    return *text ? cell_unsigned(pid) : cell_unknown();
}

static void put_series(struct out *out, const struct ranking *ranking, const struct series *s, unsigned rank)
{
    enum verdict verdict = series_verdict(s);
    bool judged = verdict != VERDICT_OK || s->verdicts[VERDICT_OK];
    const struct cell cells[] = {
        cell_string(ranking->view),
        cell_string(ranking->column),
        cell_unsigned(rank),
        pid_cell(s->pid),
        ranking_unit(ranking) ? cell_decimal(s->total, 3) : cell_unknown(),
        cell_string(ranking_unit(ranking)),
        cell_decimal(series_mean(s), 2),
        cell_decimal(series_quantile(s, 0.5), 2),
        cell_decimal(series_quantile(s, 0.95), 2),
        cell_decimal(series_quantile(s, 0.99), 2),
        cell_decimal(s->peak, 2),
        cell_time(s->peak_at),
        cell_unsigned(s->windows),
        judged ? cell_string(verdict_names[verdict]) : cell_unknown(),
        judged ? cell_unsigned(s->verdicts[verdict]) : cell_unknown(),
        verdict != VERDICT_OK ? name_cell(s->by) : cell_unknown(),
        name_cell(s->name),
    };
    _Static_assert(LEN(cells) == LEN(report_columns), "a cell a column");

    out_row(out, &report_view, cells);
}

static void put_worst(struct out *out, const struct ranking *ranking, unsigned i)
{
    const struct digest_worst *worst = &ranking->worst[i];
    const struct cell cells[] = {
        cell_string(ranking->view), cell_string(ranking->column),  cell_unsigned(i + 1),
        cell_time(worst->start),    cell_decimal(worst->value, 2), cell_decimal(worst->most, 2),
        pid_cell(worst->pid),       name_cell(worst->name),
    };
    _Static_assert(LEN(cells) == LEN(worst_columns), "a cell a column");

    out_row(out, &worst_view, cells);
}

static void put_note(struct out *out, const struct digest *d, const struct reader *reader)
{
    const struct field fields[] = {
        {"windows", cell_unsigned(d->windows)},
        {"from", d->windows ? cell_time(d->first) : cell_unknown()},
        {"to", d->windows ? cell_time(d->last) : cell_unknown()},
        {"span_s", cell_decimal(d->seconds, 3)},
        {"lost", cell_unsigned(d->lost)},
        {"by", cell_string(d->by ? d->by : d->grouped)},
        {"files", cell_unsigned(reader->files)},
        {"bytes", cell_unsigned(reader->bytes)},
        {"torn", cell_unsigned(reader->torn)},
        {"damaged", cell_unsigned(reader->damaged)},
        {"dropped", cell_unsigned(d->dropped)},
    };

    out_note(out, "recording", fields, LEN(fields));
}

/* alike: all lines must have the same fields. */
static int put_report(struct out *out, const struct digest *d, const struct reader *reader, bool alike)
{
    put_note(out, d, reader);
    for (unsigned i = 0; i < d->nrankings; i++)
        for (unsigned j = 0; j < d->rankings[i].n; j++)
            put_series(out, &d->rankings[i], &d->series[d->rankings[i].first + j], j + 1);
    for (unsigned i = 0; i < d->nrankings && !alike; i++)
        for (unsigned j = 0; j < DIGEST_WORST && d->rankings[i].worst[j].value > 0; j++)
            put_worst(out, &d->rankings[i], j);
    return out_flush(out);
}

static enum status output_failed(int err)
{
    if (!err || err == -EPIPE)
        return STATUS_DONE;
    message("cannot write to stdout: %s (%s)", strerror(-err), error_name(err));
    return STATUS_FAILED;
}

/* The column that --by means, or the process; NULL: what was recorded. */
static const char *by_column(uint32_t by)
{
    return !by ? NULL : by == ROWS_THREAD ? "tid" : rows_word_name(by);
}

/* Reads a recording. What was wrong has been told. */
static enum status read_digest(const struct options *o, unsigned which, struct digest *d,
                               struct reader *reader)
{
    struct digest_range range;
    struct error why = {""};

    int err = reader_open(reader, o->files[which], &why);
    if (!err)
        err = digest_range(&range, reader, o->from, o->to, &why);
    if (!err)
        err = digest_make(d, reader, &range, &why);
    if (!err && !d->windows)
        err = error_set(&why, -ENODATA, "%s: no whole window%s", quote(o->files[which]).text,
                        o->from || o->to ? " between --from and --to" : " in it");
    if (!err && (o->columns || o->by) && !d->nrankings)
        err = error_set(&why, -ENODATA, "%s: no view has the columns of %s: it was not recorded with them",
                        quote(o->files[which]).text, o->columns ? "--column" : "--by");
    if (err)
        message("%s", why.text);
    return err ? STATUS_FAILED : STATUS_DONE;
}

static enum status page_failed(const char *path, int err)
{
    if (!err)
        return STATUS_DONE;
    message("%s cannot be written: %s (%s)", quote(path).text, strerror(-err), error_name(err));
    return STATUS_FAILED;
}

enum status report(const struct options *o)
{
    struct digest digest = {.by = by_column(o->by),
                            .top = o->top,
                            .columns = o->columns,
                            .quantiles = true,
                            .lines = o->html != NULL};
    struct reader reader;
    enum status status = read_digest(o, 0, &digest, &reader);

    if (status == STATUS_DONE && o->html) {
        status = page_failed(o->html, html_write(o->html, &digest, &reader));
    } else if (status == STATUS_DONE) {
        struct out *out = out_open(STDOUT_FILENO, o->format, !o->no_header);
        status = out ? output_failed(put_report(out, &digest, &reader, o->format == OUT_CSV)) : STATUS_FAILED;
        out_close(out);
    }
    digest_free(&digest);
    reader_close(&reader);
    return status;
}

/* ---- diff ---- */

static const struct column diff_columns[] = {
    COLUMN("of", -10, FIRST, "the view"),
    COLUMN("column", -10, FIRST, "what is compared"),
    COLUMN("rank", 4, NONE, "by how much it has changed"),
    COLUMN("before", 12, SUM, "its mean over all the time that was recorded"),
    COLUMN("after", 12, SUM, "the same of the other recording"),
    COLUMN("change", 12, SUM, "after - before"),
    COLUMN("change_pct", 10, NONE, "of before"),
    COLUMN("before_peak", 12, MAX, "the most in a window"),
    COLUMN("after_peak", 12, MAX, "the same of the other recording"),
    COLUMN("comm", -1, TASK, "name"),
};
static const struct schema diff_view = {"diff", diff_columns, LEN(diff_columns)};

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
    const struct cell cells[] = {
        cell_string(ranking->view),
        cell_string(ranking->column),
        cell_unsigned(rank),
        cell_decimal(c->was, 3),
        cell_decimal(c->is, 3),
        cell_decimal(c->is - c->was, 3),
        c->was > 0 ? cell_decimal(100 * (c->is - c->was) / c->was, 1) : cell_unknown(),
        c->before ? cell_decimal(c->before->peak, 3) : cell_unknown(),
        c->after ? cell_decimal(c->after->peak, 3) : cell_unknown(),
        either ? name_cell(either->name) : cell_unknown(),
    };
    _Static_assert(LEN(cells) == LEN(diff_columns), "a cell a column");

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
    put_note(out, &d[0], &reader[0]);
    put_note(out, &d[1], &reader[1]);
    for (unsigned i = 0; i < d[0].nrankings; i++)
        put_changes(out, &d[0], &d[1], &d[0].rankings[i], top);
    for (unsigned i = 0; i < d[1].nrankings; i++)
        if (!find_ranking(&d[0], &d[1].rankings[i]))
            put_changes(out, &d[0], &d[1], &d[1].rankings[i], top);
    return out_flush(out);
}

enum status report_diff(const struct options *o)
{
    struct digest d[2];
    struct reader reader[2];
    enum status status = STATUS_DONE;

    for (unsigned i = 0; i < 2; i++) {
        /* All there is room for: who is light in one may be heavy in the other. PIDs are others by then. */
        d[i] = (struct digest){
            .by = by_column(o->by), .named = true, .top = DIGEST_SERIES, .columns = o->columns};
        reader[i] = (struct reader){.fd = -1};
        if (status == STATUS_DONE)
            status = read_digest(o, i, &d[i], &reader[i]);
    }
    if (status == STATUS_DONE) {
        struct out *out = out_open(STDOUT_FILENO, o->format, !o->no_header);
        status = out ? output_failed(put_diff(out, d, reader, o->top)) : STATUS_FAILED;
        out_close(out);
    }
    for (unsigned i = 0; i < 2; i++) {
        digest_free(&d[i]);
        reader_close(&reader[i]);
    }
    return status;
}
