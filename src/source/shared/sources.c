// SPDX-License-Identifier: GPL-2.0-only
#include "source/shared/sources.h"
#include <errno.h>
#include "base/error.h"

static struct wanted_source *find_source(const struct sources *s, const struct source *source)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->wanted[i].source == source)
            return (struct wanted_source *)&s->wanted[i];
    return NULL;
}

static struct wanted_source *want_source(struct sources *s, const struct source_use *use)
{
    struct wanted_source *wanted = find_source(s, use->source);

    if (!wanted && s->n == MAX_SOURCES)
        return NULL;
    if (!wanted) {
        wanted = &s->wanted[s->n++];
        wanted->source = use->source;
    }
    if (!wanted->open)
        wanted->needs |= use->needs;
    return wanted;
}

void sources_want(struct sources *s, const struct source_use *uses)
{
    for (; uses->source; uses++)
        want_source(s, uses);
}

static int open_source(struct sources *s, const struct source_use *use, struct hook_report hooks[MAX_HOOKS],
                       struct error *why)
{
    struct wanted_source *wanted = want_source(s, use);

    if (!wanted)
        return error_set(why, -E2BIG, "more than %d sources", MAX_SOURCES);
    if (wanted->open)
        return (wanted->needs & use->needs) == use->needs
                   ? 0
                   : error_set(why, -EBUSY, "%s is already open without what is needed here",
                               use->source->name);
    if (wanted->failed)
        return error_set(why, -ENOTSUP, "%s is not available", use->source->name);
    int err = wanted->source->open(&wanted->state, s->context, wanted->needs, hooks, why);
    if (err) {
        wanted->failed = true;
        return err;
    }
    wanted->open = true;
    s->order[s->nopen++] = wanted;
    return 0;
}

int sources_open(struct sources *s, const struct source_use *uses, struct hook_report hooks[MAX_HOOKS],
                 struct error *why)
{
    struct error optional;

    for (; uses->source; uses++) {
        int err = open_source(s, uses, hooks, uses->optional ? &optional : why);
        if (err && !uses->optional)
            return err;
    }
    return 0;
}

void *source_state(const struct source_context *context, const struct source *source)
{
    const struct wanted_source *wanted = find_source(context->sources, source);

    return wanted && wanted->open ? wanted->state : NULL;
}

int source_require(const struct source_context *context, const struct source_use *use,
                   struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    return open_source(context->sources, use, hooks, why);
}

void sources_flip(const struct sources *s)
{
    for (size_t i = 0; i < s->nopen; i++)
        if (s->order[i]->source->flip)
            s->order[i]->source->flip(s->order[i]->state);
}

int sources_collect(const struct sources *s, const struct window *window, struct error *why)
{
    int err = 0;

    for (size_t i = 0; i < s->nopen && !err; i++)
        if (s->order[i]->source->collect)
            err = s->order[i]->source->collect(s->order[i]->state, window, why);
    return err;
}

void sources_shown(const struct sources *s)
{
    for (size_t i = 0; i < s->nopen; i++)
        if (s->order[i]->source->shown)
            s->order[i]->source->shown(s->order[i]->state);
}

uint64_t sources_lost(const struct sources *s)
{
    uint64_t lost = 0;

    for (size_t i = 0; i < s->nopen; i++)
        if (s->order[i]->source->lost)
            lost += s->order[i]->source->lost(s->order[i]->state);
    return lost;
}

void sources_tick(const struct sources *s)
{
    for (size_t i = 0; i < s->nopen; i++)
        if (s->order[i]->source->tick)
            s->order[i]->source->tick(s->order[i]->state);
}

size_t sources_wake_fds(const struct sources *s, uint64_t now, int fds[MAX_SOURCES], uint64_t *next)
{
    size_t n = 0;

    *next = UINT64_MAX;
    for (size_t i = 0; i < s->nopen; i++) {
        const struct source *source = s->order[i]->source;
        uint64_t due = s->order[i]->woken + source->wake_gap_ns;
        if (source->wake_fd && due <= now)
            fds[n++] = source->wake_fd(s->order[i]->state);
        else if (source->wake_fd && due < *next)
            *next = due;
    }
    return n;
}

bool sources_can_wake(const struct sources *s)
{
    for (size_t i = 0; i < s->nopen; i++)
        if (s->order[i]->source->wake_fd)
            return true;
    return false;
}

void sources_wake(struct sources *s, uint64_t now)
{
    for (size_t i = 0; i < s->nopen; i++) {
        const struct source *source = s->order[i]->source;
        if (!source->wake || now < s->order[i]->woken + source->wake_gap_ns)
            continue;
        source->wake(s->order[i]->state);
        s->order[i]->woken = now;
    }
}

void sources_cost(const struct sources *s, struct program_cost *cost)
{
    for (size_t i = 0; i < s->nopen; i++)
        if (s->order[i]->source->cost)
            s->order[i]->source->cost(s->order[i]->state, cost);
}

void sources_close(struct sources *s)
{
    while (s->nopen) {
        struct wanted_source *last = s->order[--s->nopen];
        last->source->close(last->state);
        last->open = false;
    }
    s->n = 0;
}
