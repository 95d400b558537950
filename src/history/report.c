/* SPDX-License-Identifier: GPL-2.0-only */
#include "history/report_private.h"
#include "history/html.h"
#include "history/when.h"
#include "base/quote.h"
#include "base/message.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LEN(a) (sizeof(a) / sizeof *(a))

#define REPORT_COLUMNS(X)                                                                                    \
    X(of, -10, NONE, FIRST, DEFAULT, "the view")                                                             \
    X(column, -10, NONE, FIRST, DEFAULT, "by which rows are ranked")                                         \
    X(rank, 4, NONE, NONE, DEFAULT, "from 1 in each ranking")                                                \
    X(pid, 7, NONE, TASK, DEFAULT, "of the process")                                                         \
    X(total, 12, NONE, SUM, DEFAULT, "of all windows, in `unit`")                                            \
    X(unit, -5, NONE, FIRST, DEFAULT, "of the total")                                                        \
    X(mean, 10, NONE, NONE, DEFAULT, "of the windows that have it")                                          \
    X(p50, 10, NONE, NONE, DEFAULT, "of these")                                                              \
    X(p95, 10, NONE, NONE, DEFAULT, "of these")                                                              \
    X(p99, 10, NONE, NONE, DEFAULT, "of these")                                                              \
    X(peak, 10, NONE, MAX, DEFAULT, "the most in one")                                                       \
    X(peak_start, 27, NONE, FIRST, DEFAULT, "when that one began")                                           \
    X(windows, 7, COUNT, SUM, DEFAULT, "that have it")                                                       \
    X(verdict, -14, NONE, FIRST, DEFAULT, "the most frequent")                                               \
    X(verdict_windows, 7, COUNT, SUM, DEFAULT, "that have this verdict")                                     \
    X(by, -20, NONE, FIRST, DEFAULT, "the last culprit")                                                     \
    X(comm, -1, NONE, TASK, DEFAULT, "name")
COLUMN_TABLE(REPORT_COLUMNS);
static const struct schema report_view = {.name = "report", .columns = columns, .ncolumns = COLUMNS};

#define WORST_COLUMNS(X)                                                                                     \
    X(of, -10, NONE, FIRST, DEFAULT, "the view")                                                             \
    X(column, -10, NONE, FIRST, DEFAULT, "the column")                                                       \
    X(rank, 4, NONE, NONE, DEFAULT, "from 1")                                                                \
    X(start, 27, NONE, FIRST, DEFAULT, "of the window")                                                      \
    X(sum, 10, NONE, SUM, DEFAULT, "of all its rows")                                                        \
    X(most, 10, NONE, MAX, DEFAULT, "of one of them")                                                        \
    X(pid, 7, NONE, TASK, DEFAULT, "process that has the most")                                              \
    X(comm, -1, NONE, TASK, DEFAULT, "name")
#define WORST_NUMBER(name, ...) WORST_##name,
enum { WORST_COLUMNS(WORST_NUMBER) WORST_LENGTH };
static const struct column worst_columns[] = {WORST_COLUMNS(COLUMN_ENTRY)};
static const struct schema worst_view = {.name = "worst", .columns = worst_columns, .ncolumns = WORST_LENGTH};

struct cell report_name(const char *text)
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

static void put_series(struct out *out, const struct digest *d, const struct ranking *ranking,
                       const struct series *s, unsigned rank)
{
    unsigned verdict = series_verdict(s);
    bool judged = verdict || s->verdicts[0];
    const struct cell cells[COLUMNS] = {
        [COL_of] = cell_string(ranking->view),
        [COL_column] = cell_string(ranking->column),
        [COL_rank] = cell_unsigned(rank),
        [COL_pid] = pid_cell(s->pid),
        [COL_total] = ranking_unit(ranking) ? cell_decimal(s->total, 3) : cell_unknown(),
        [COL_unit] = cell_string(ranking_unit(ranking)),
        [COL_mean] = cell_decimal(series_mean(s), 2),
        [COL_p50] = cell_decimal(series_quantile(s, 0.5), 2),
        [COL_p95] = cell_decimal(series_quantile(s, 0.95), 2),
        [COL_p99] = cell_decimal(series_quantile(s, 0.99), 2),
        [COL_peak] = cell_decimal(s->peak, 2),
        [COL_peak_start] = cell_time(s->peak_at),
        [COL_windows] = cell_unsigned(s->windows),
        [COL_verdict] = judged ? cell_string(d->verdicts[verdict]) : cell_unknown(),
        [COL_verdict_windows] = judged ? cell_unsigned(s->verdicts[verdict]) : cell_unknown(),
        [COL_by] = verdict >= DIGEST_WELL ? report_name(s->by) : cell_unknown(),
        [COL_comm] = report_name(s->name),
    };

    out_row(out, &report_view, cells);
}

static void put_worst(struct out *out, const struct ranking *ranking, unsigned i)
{
    const struct digest_worst *worst = &ranking->worst[i];
    const struct cell cells[WORST_LENGTH] = {
        [WORST_of] = cell_string(ranking->view),     [WORST_column] = cell_string(ranking->column),
        [WORST_rank] = cell_unsigned(i + 1),         [WORST_start] = cell_time(worst->start),
        [WORST_sum] = cell_decimal(worst->value, 2), [WORST_most] = cell_decimal(worst->most, 2),
        [WORST_pid] = pid_cell(worst->pid),          [WORST_comm] = report_name(worst->name),
    };

    out_row(out, &worst_view, cells);
}

void report_note(struct out *out, const struct digest *d, const struct reader *reader)
{
    char from[WHEN_TEXT], to[WHEN_TEXT], killed[WHEN_TEXT];

    when_format(d->first, from);
    when_format(d->last, to);
    when_format(d->oom_at, killed);
    const struct field fields[] = {
        {"windows", cell_unsigned(d->windows)},
        {"from", d->windows ? cell_string(from) : cell_unknown()},
        {"to", d->windows ? cell_string(to) : cell_unknown()},
        {"span_s", cell_decimal(d->seconds, 3)},
        {"lost", cell_unsigned(d->lost)},
        {"by", cell_string(d->by ? d->by : d->grouped)},
        {"files", cell_unsigned(reader->files)},
        {"bytes", cell_unsigned(reader->bytes)},
        {"torn", cell_unsigned(reader->torn)},
        {"damaged", cell_unsigned(reader->damaged)},
        {"dropped", cell_unsigned(d->dropped)},
        {"oom_kills", cell_unsigned(d->oom_kills)},
        {"oom_at", d->oom_kills ? cell_string(killed) : cell_unknown()},
    };

    out_note(out, "recording", fields, LEN(fields));
}

/* alike: all lines must have the same fields. */
static int put_report(struct out *out, const struct digest *d, const struct reader *reader, bool alike)
{
    report_note(out, d, reader);
    for (unsigned i = 0; i < d->nrankings; i++)
        for (unsigned j = 0; j < d->rankings[i].n; j++)
            put_series(out, d, &d->rankings[i], &d->series[d->rankings[i].first + j], j + 1);
    for (unsigned i = 0; i < d->nrankings && !alike; i++)
        for (unsigned j = 0; j < DIGEST_WORST && d->rankings[i].worst[j].value > 0; j++)
            put_worst(out, &d->rankings[i], j);
    return out_flush(out);
}

enum status report_written(int err)
{
    if (!err || err == -EPIPE)
        return STATUS_DONE;
    message("cannot write to stdout: %s (%s)", strerror(-err), error_name(err));
    return STATUS_FAILED;
}

static int no_window(const struct report_options *o, const char *file, struct reader *reader,
                     const struct digest_range *range, struct error *why)
{
    char from[WHEN_TEXT], to[WHEN_TEXT], begin[WHEN_TEXT], end[WHEN_TEXT];
    uint64_t first, last;

    int err = digest_span(reader, &first, &last, why);
    if (err)
        return err;
    if (!first)
        return error_set(why, -ENODATA, "%s: no whole window in it", quote(file).text);
    when_format(range->from, from);
    when_format(range->to, to);
    when_format(first, begin);
    when_format(last, end);
    return error_set(why, -ENODATA, "%s: no whole window%s%s%s%s: it has those from %s to %s",
                     quote(file).text, o->from ? " from " : "", o->from ? from : "", o->to ? " to " : "",
                     o->to ? to : "", begin, end);
}

enum status report_read(const struct report_options *o, unsigned which, struct digest *d,
                        struct reader *reader)
{
    struct digest_range range;
    struct error why = {""};

    d->schemas = o->schemas;
    d->verdicts = o->verdicts;
    d->nverdicts = o->nverdicts;
    d->by = o->by;
    d->columns = o->columns;
    d->filter = (struct row_filter){.filter = o->filter,
                                    .kinds = o->filter_kinds | (o->no_kernel ? ROW_FILTER_KERNEL : 0)};
    int err = reader_open(reader, o->files[which], &why);
    if (!err)
        err = digest_range(&range, reader, o->from, o->to, &why);
    if (!err)
        err = digest_make(d, reader, &range, &why);
    if (!err && !d->windows)
        err = no_window(o, o->files[which], reader, &range, &why);
    if (!err)
        err = row_filter_check(&d->filter, o->files[which], &why);
    if (!err && d->filter.kinds && !d->filter.passed) {
        message("no row of %s matches %s", quote(o->files[which]).text, o->chosen);
        return STATUS_DONE;
    }
    if (!err && *d->filter.without)
        message("%s: rows of %s are left out: recorded without what %s needs (see --with)",
                quote(o->files[which]).text, d->filter.without, o->chosen);
    if (!err && (d->columns || d->by) && !d->nrankings)
        err = error_set(&why, -ENODATA, "%s: no view has the columns of %s: it was not recorded with them",
                        quote(o->files[which]).text, d->columns ? "--sort" : "--by");
    if (err)
        message("%s", why.text);
    return err ? STATUS_FAILED : STATUS_DONE;
}

enum status report(const struct report_options *o)
{
    struct digest digest = {.top = o->top, .quantiles = true, .lines = o->html};
    struct reader reader;
    enum status status = report_read(o, 0, &digest, &reader);

    if (status == STATUS_DONE && o->html) {
        status = report_written(html_write(STDOUT_FILENO, &digest, &reader));
    } else if (status == STATUS_DONE) {
        struct out *out = out_open(STDOUT_FILENO, o->format, o->header);
        status =
            out ? report_written(put_report(out, &digest, &reader, o->format == OUT_CSV)) : STATUS_FAILED;
        out_close(out);
    }
    digest_free(&digest);
    reader_close(&reader);
    return status;
}
