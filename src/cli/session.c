// SPDX-License-Identifier: GPL-2.0-only
#include "cli/session.h"
#include <errno.h>
#include <string.h>
#include <time.h>
#include "base/clock.h"
#include "host/names.h"
#include "source/shared/prefilter.h"
#include "source/shared/sketch.h"

const struct view *view_named(const char *name, size_t length)
{
    for (const struct view *const *v = views; *v; v++)
        if (strlen((*v)->name) == length && !strncmp((*v)->name, name, length))
            return *v;
    return NULL;
}

int session_init(struct session *s, const struct options *options, enum session_purpose purpose)
{
    memset(s, 0, sizeof *s);
    pidns_read(&s->pidns);
    s->context = (struct source_context){.purpose = purpose,
                                         .options = &options->run,
                                         .targets = &s->targets,
                                         .names = names_open(&s->pidns),
                                         .pidns = &s->pidns,
                                         .subject = &s->subject,
                                         .sources = &s->sources};
    s->sources.context = &s->context;
    return s->context.names ? 0 : -ENOMEM;
}

/* What a view reads: its sources, or the pinned maps of it. */
static const struct source_use *uses_of(const struct session *s, const struct view *view,
                                        struct source_use pinned[2])
{
    if (!s->context.options->pinned)
        return view->sources;
    pinned[0] = (struct source_use){.source = view->pinned};
    pinned[1] = (struct source_use){.source = NULL};
    return pinned;
}

void session_add(struct session *s, const struct view *view)
{
    struct source_use pinned[2];

    sources_want(&s->sources, uses_of(s, view, pinned));
    s->views[s->n++] = view;
}

static int open_view(struct session *s, size_t i, session_opened_fn opened, void *context)
{
    static struct hook_report hooks[MAX_HOOKS];
    const struct view *view = s->views[i];
    struct source_use pinned[2];
    struct error why = {""};

    memset(hooks, 0, sizeof hooks);
    int err = sources_open(&s->sources, uses_of(s, view, pinned), hooks, &why);
    if (!err)
        err = view->open(&s->states[i], &s->context, &why);
    opened(context, view, hooks, err, &why);
    return err;
}

static bool view_builds(const struct view *view)
{
    for (const struct source_use *use = view->sources; use->source; use++)
        if (use->source->builds)
            return true;
    return false;
}

/* Views with sources that build on other sources are opened first, since those say what they need. */
int session_open(struct session *s, session_opened_fn opened, void *context)
{
    int err = 0;

    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < s->n && !err; i++)
            if (view_builds(s->views[i]) == !pass)
                err = open_view(s, i, opened, context);
    return err;
}

int session_flip(struct session *s, struct error *why)
{
    struct timespec grace = {.tv_nsec = SKETCH_GRACE_NS};
    struct window *window = &s->window;

    /* Before the flip: this window then has all the time of a process that exits before. */
    targets_poll(&s->targets);
    targets_poll(&s->subject);
    uint64_t wall = clock_ns(CLOCK_REALTIME), now = clock_ns(CLOCK_MONOTONIC);

    sources_flip(&s->sources);
    window->begin_wall = window->end_wall;
    window->end_wall = wall;
    window->begin_mono = window->end_mono;
    window->end_mono = now;
    while (nanosleep(&grace, &grace) && errno == EINTR)
        ;
    int err = sources_collect(&s->sources, window, why);
    for (size_t i = 0; i < s->n && !err; i++)
        if (s->views[i]->collect)
            err = s->views[i]->collect(s->states[i], window, why);
    if (!err)
        prefilter_refresh(s->prefilter, now);
    return err;
}

void session_close(struct session *s)
{
    for (size_t i = s->n; i--;)
        if (s->states[i])
            s->views[i]->close(s->states[i]);
    sources_close(&s->sources);
    prefilter_close(s->prefilter);
    names_close(s->context.names);
    targets_free(&s->targets);
    targets_free(&s->subject);
}
