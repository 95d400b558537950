// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>
#include "base/message.h"
#include "cli/run_private.h"
#include "source/shared/prefilter.h"

bool live_is_wanted(const struct options *o)
{
    return o->mode == RUN_VIEWS && !o->record && !o->textfile && !o->format_given && !o->count &&
           !o->run.explain && !o->run.prose && !o->run.alert && !o->self && !o->no_header && !o->run.lines &&
           screen_is_possible();
}

static bool is_asked_for(const struct options *asked, const struct view *view)
{
    return asked->nviews == 1 && !strcmp(asked->views[0], view->name);
}

/* Views that can be shown without more options than there are. */
static bool can_follow(const struct options *asked, const struct view *view)
{
    struct run_options run = asked->run;
    uint32_t by = 0;
    const struct view_request request = {.run = &run, .by = &by, .npids = asked->npids, .only = true};
    struct error why;

    return !view->slows && !view->alone && !view->takes_pids && (!view->of_targets || asked->npids) &&
           (!view->check_options || !view->check_options(&request, &why));
}

const struct options *live_options(struct live *live, const struct options *asked)
{
    *live = (struct live){.asked = asked, .options = *asked};
    live->options.format = OUT_TSV;
    live->options.run.narrow = false; /* the screen cuts words itself */
    live->met.by = asked->by;
    live->met.threads = asked->run.threads;
    for (const struct view *const *view = views; *view && live->npages < MAX_VIEWS; view++)
        if (!is_asked_for(asked, *view) && can_follow(asked, *view))
            live->pages[live->npages++] = *view;
    return &live->options;
}

enum status live_open(struct run *run)
{
    const struct options *asked = run->live->asked;
    const struct screen_options options = {.top = asked->top_given ? asked->run.top : 0,
                                           .human = asked->human,
                                           .threads = asked->run.threads,
                                           .wide = asked->wide,
                                           .by = asked->by,
                                           .interval_ns = asked->interval_ns};

    run->screen = screen_open(&options);
    if (!run->screen) {
        message("out of memory");
        return STATUS_FAILED;
    }
    screen_views(run->screen, run->schemas);
    out_to_sink(run->out, screen_sink(run->screen));
    return STATUS_DONE;
}

/* ---- rows ---- */

void live_rows_options(struct run *run)
{
    struct live *live = run->live;
    struct rows_options *o = &run->rows_options;

    o->top = SCREEN_ROWS;
    o->by = live->met.by;
    if (*live->met.sort) {
        o->sort = live->met.sort;
        o->reverse = live->met.reverse;
    }
    if (*live->met.filter && !o->filters->comms.n) {
        live->filters = *o->filters;
        live->filters.comms = (struct texts){.items = {live->met.filter}, .n = 1};
        o->filters = &live->filters;
    }
}

static bool rows_differ(const struct screen_wish *a, const struct screen_wish *b)
{
    return a->by != b->by || a->reverse != b->reverse || strcmp(a->filter, b->filter) != 0 ||
           strcmp(a->sort, b->sort) != 0;
}

/* False, and all is as it was: the view cannot do it, and a message says so. */
static bool reopen_rows(struct run *run)
{
    struct rows *before = run->rows;
    const struct rows_options options = run->rows_options;

    run->rows = NULL;
    out_layer(run->out, NULL, NULL);
    if (run_open_rows(run) != STATUS_DONE) {
        run->rows = before;
        run->rows_options = options;
        if (before)
            rows_attach(before, run->out);
        return false;
    }
    prefilter_use(run->session.prefilter, run->rows ? rows_filter(run->rows) : NULL);
    rows_close(before);
    out_anew(run->out);
    return true;
}

void live_follow(struct run *run)
{
    struct live *live = run->live;
    const struct screen_wish *wish = screen_wish(run->screen), before = live->met;

    if (rows_differ(wish, &live->met)) {
        live->met = *wish;
        if (!reopen_rows(run)) {
            live->met = before;
            screen_refuse(run->screen, &before);
        }
    }
    unsigned rows = wish->pid ? SCREEN_ROWS : screen_rows(run->screen);
    run->of_views.run.top = rows_want_all(&run->rows_options) ? ROWS_ALL : rows;
}

/* ---- what is said of a process ---- */

struct told {
    char text[4096];
    size_t n;
};

static void add_line(void *context, const char *line)
{
    struct told *told = context;
    size_t n = strlen(line);

    if (n + 2 > sizeof told->text - told->n)
        return;
    memcpy(told->text + told->n, line, n);
    told->n += n;
    told->text[told->n++] = '\n';
    told->text[told->n] = '\0';
}

void live_explain(struct run *run)
{
    const struct session *s = &run->session;
    uint32_t pid = screen_wish(run->screen)->pid;
    struct told told = {.n = 0};

    for (size_t i = 0; i < s->n && pid; i++)
        if (s->views[i]->explain && s->views[i]->explain(s->states[i], pid, add_line, &told))
            break;
    screen_tell(run->screen, told.text);
}

/* ---- sessions ---- */

/* The views of a page; pages go round. What was asked of columns was asked of the first. */
static void turn_to(struct live *live, struct screen_wish *wish)
{
    int pages = (int)live->npages + 1, at = ((wish->page % pages) + pages) % pages;
    struct options *o = &live->options;

    *o = *live->asked;
    o->format = OUT_TSV;
    o->run.narrow = false;
    o->run.threads = wish->threads;
    *wish->sort = '\0';
    wish->reverse = false;
    if (!at)
        return;
    o->views[0] = live->pages[at - 1]->name;
    o->nviews = 1;
    o->show = o->sort = NULL;
    o->reverse = false;
    if (wish->by & (ROWS_CPU | ROWS_MOUNT | ROWS_THREAD))
        wish->by = 0;
}

static enum status begin_session(struct run *run)
{
    session_close(&run->session);
    rows_close(run->rows);
    run->rows = NULL;
    out_layer(run->out, NULL, NULL);
    out_anew(run->out);
    run_choose_columns(run);
    enum status status = run_open_session(run);
    if (status == STATUS_DONE)
        screen_views(run->screen, run->schemas);
    return status == STATUS_DONE ? run_open_views(run) : status;
}

/* A page that cannot be had is passed over: the message of its view says why. */
enum status live_reopen(struct run *run)
{
    struct live *live = run->live;
    struct screen_wish wish = *screen_wish(run->screen);
    int step = wish.page < live->met.page ? -1 : 1;
    enum status status = STATUS_FAILED;

    for (size_t tries = 0; tries <= live->npages && status != STATUS_DONE; tries++) {
        turn_to(live, &wish);
        screen_refuse(run->screen, &wish);
        live->met = wish;
        status = begin_session(run);
        wish.page += step;
    }
    return status;
}
