/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A session: the sources and views that are open together, and their windows. The run loop, doctor, pin and
 * energy -- COMMAND use it.
 *
 *   session_init -> (targets, prefilter) -> session_add, each view -> session_open
 *   -> session_flip, again and again -> session_close
 */
#ifndef HOG_CLI_SESSION_H
#define HOG_CLI_SESSION_H

#include "host/pidns.h"
#include "host/targets.h"
#include "cli/options.h"
#include "view/view.h"

struct session {
    struct source_context context;
    struct sources sources;
    struct pidns pidns;
    struct targets targets;
    struct targets subject; /* of hog why */
    struct prefilter *prefilter;
    const struct view *views[MAX_VIEWS]; /* in the order of their rows */
    void *states[MAX_VIEWS];             /* NULL: it is not open */
    size_t n;
    struct window window;
};

/* The rest is filled in by the caller or later. The session must not move afterwards. 0 or -ENOMEM. */
int session_init(struct session *s, const struct options *options, enum session_purpose purpose);

void session_add(struct session *s, const struct view *view);

/* A view was opened, or err: with the hooks that were tried for those of its sources that were not open. */
typedef void (*session_opened_fn)(void *context, const struct view *view,
                                  const struct hook_report hooks[MAX_HOOKS], int err,
                                  const struct error *why);

/* Opens all added views, and calls opened() for each. The first error ends it. */
int session_open(struct session *s, session_opened_fn opened, void *context);

/* Ends the window in all sources at the same moment and begins the next one; then sources and views collect.
 * 0, or -errno and a reason. */
int session_flip(struct session *s, struct error *why);

void session_close(struct session *s);

/* NULL: no such view. */
const struct view *view_named(const char *name, size_t length);

#endif
