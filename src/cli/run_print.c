// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "rows/rows.h"
#include "cli/run_private.h"
#include "base/message.h"

#define MAX_FIELDS 96
#define PSI        "psi_"

/* Fields that another view has already given are left out. */
static size_t add_fields(const struct run *run, size_t view, struct field *fields, size_t n)
{
    struct field more[MAX_FIELDS];
    size_t have = run->session.views[view]->fields(run->session.states[view], more, MAX_FIELDS), said = n;

    for (size_t i = 0; i < have && n < MAX_FIELDS; i++) {
        bool again = false;
        for (size_t j = 0; j < said && !again; j++)
            again = !strcmp(fields[j].name, more[i].name);
        if (!again)
            fields[n++] = more[i];
    }
    return n;
}

static void print_window_line(const struct run *run)
{
    const struct window *window = &run->session.window;
    uint64_t lost = run->rows_lost + sources_lost(&run->session.sources);
    const struct field fields[] = {
        {"seq", cell_unsigned(window->seq)},
        {"start", cell_time(window->begin_wall)},
        {"dur_ms", cell_decimal((double)(window->end_mono - window->begin_mono) / 1e6, 3)},
        {"lost", cell_unsigned(lost)},
        {"pids", cell_string(pidns_name(&run->session.pidns))},
    };

    out_note(run->out, "window", fields, sizeof fields / sizeof *fields);
}

/* What views say of the window; what they call psi_NAME is NAME in the line #psi. */
static void print_totals(const struct run *run)
{
    struct field fields[MAX_FIELDS], totals[MAX_FIELDS], psi[MAX_FIELDS];
    size_t n = 0, ntotals = 0, npsi = 0;

    fields[n++] = (struct field){"skipped", cell_unsigned(run->skipped)};
    if (run->options->by)
        fields[n++] = (struct field){"by", cell_string(rows_word_name(run->options->by))};
    for (size_t i = 0; i < run->session.n; i++)
        if (run->session.views[i]->fields)
            n = add_fields(run, i, fields, n);
    for (size_t i = 0; i < n; i++) {
        if (!strncmp(fields[i].name, PSI, strlen(PSI)))
            psi[npsi++] = (struct field){fields[i].name + strlen(PSI), fields[i].cell};
        else
            totals[ntotals++] = fields[i];
    }
    out_note(run->out, "totals", totals, ntotals);
    if (npsi)
        out_note(run->out, "psi", psi, npsi);
}

static void print_headlines(const struct run *run)
{
    const struct session *s = &run->session;
    enum out_format format = run->options->format;

    for (size_t i = 0; i < s->n && format != OUT_PROM && format != OUT_CSV; i++)
        if (s->views[i]->headline)
            s->views[i]->headline(s->states[i], format == OUT_TEXT, run->out);
}

static void print_exits(struct out *out, bool prose, struct targets *targets)
{
    for (size_t i = 0; i < targets->n; i++) {
        const struct field pid = {"pid", cell_unsigned(targets->list[i].pid)};
        char sentence[40];
        snprintf(sentence, sizeof sentence, "Process %u has ended.", targets->list[i].pid);
        if (targets->list[i].exited && prose)
            out_line(out, sentence);
        else if (targets->list[i].exited)
            out_note(out, "exit", &pid, 1);
    }
    targets_drop(targets);
}

static void print_unmatched(const struct options *options)
{
    char filters[200];

    filter_describe(&options->run.filters, filters, sizeof filters);
    message("no process matches %s so far", filters);
}

/* Lines about windows would stand between rows that are about moments. */
static bool is_quiet(const struct run *run)
{
    const struct session *s = &run->session;

    for (size_t i = 0; i < s->n; i++)
        if (!s->views[i]->quiet)
            return false;
    return run->options->format == OUT_TEXT && !run->options->wide && !run->recorder && !run->screen &&
           !run->rows_lost && !sources_lost(&s->sources);
}

/* The window line is already written: rows lost here are counted in lost= of the next one. */
static void print_rows(struct run *run)
{
    const struct session *s = &run->session;

    if (run->rows)
        rows_begin(run->rows, s->window.end_mono);
    for (size_t i = 0; i < s->n; i++) {
        s->views[i]->rows(s->states[i], &s->window, run->out);
        if (run->rows)
            rows_flush(run->rows);
    }
    sources_shown(&s->sources);
    bool typed = run->screen && *screen_wish(run->screen)->filter; /* the screen says it itself */
    if (run->rows && !typed && rows_unmatched(run->rows))
        print_unmatched(run->options);
    run->rows_lost = run->rows ? rows_lost(run->rows) : 0;
    if (run->rows_lost && !run->ever_lost)
        message(
            "no memory for all rows: %lu of a window are missing in what is shown (lost= of the next one)",
            (unsigned long)run->rows_lost);
    run->ever_lost += run->rows_lost;
}

int run_print(struct run *run)
{
    struct window *window = &run->session.window;

    window->seq++;
    out_begin_window(run->out);
    bool noted = !run->options->run.prose && !is_quiet(run);
    if (noted) {
        print_window_line(run);
        print_headlines(run);
    }
    if (noted && (run->options->wide || run->options->format != OUT_TEXT))
        print_totals(run);
    print_rows(run);
    print_exits(run->out, run->options->run.prose, &run->session.targets);
    print_exits(run->out, run->options->run.prose, &run->session.subject);
    if (run->options->self) {
        struct program_cost cost = {0};
        sources_cost(&run->session.sources, &cost);
        self_note(&run->self, run->out, window->end_mono - window->begin_mono, &cost);
    }
    out_end_window(run->out);
    int err = out_flush(run->out);
    if (run->recorder)
        recorder_end_window(run->recorder, run->out);
    if (run->screen) {
        live_explain(run);
        screen_end_window(run->screen);
    }
    return err;
}

int run_print_now(struct run *run)
{
    const struct session *s = &run->session;
    size_t written = 0;

    /* What a window has in these is between its begin and its end. */
    if (run->options->run.prose || run->recorder || run->screen || run->options->format == OUT_PROM)
        return 0;
    for (size_t i = 0; i < s->n; i++) {
        if (!s->views[i]->rows_now)
            continue;
        if (run->rows)
            rows_go_on(run->rows, clock_ns(CLOCK_MONOTONIC));
        written += s->views[i]->rows_now(s->states[i], run->out);
        if (run->rows)
            rows_flush(run->rows);
    }
    return written ? out_flush(run->out) : 0;
}
