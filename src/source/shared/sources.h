/* SPDX-License-Identifier: GPL-2.0-only */
/* The sources that a session has open, each once. */
#ifndef HOG_SOURCE_SHARED_SOURCES_H
#define HOG_SOURCE_SHARED_SOURCES_H

#include <stddef.h>
#include "source/shared/source.h"

/* A source that a view (or another source) builds on. */
struct source_use {
    const struct source *source; /* NULL: the end of the list */
    unsigned needs;
    bool optional; /* the user does without it where it cannot be had */
};

#define MAX_SOURCES 16

struct sources {
    struct source_context *context;
    struct wanted_source {
        const struct source *source;
        unsigned needs;
        bool open, failed;
        void *state;
    } wanted[MAX_SOURCES];
    size_t n;
    struct wanted_source *order[MAX_SOURCES]; /* those that are open, in the order of opening */
    size_t nopen;
};

/* Adds to what is needed. Call it for all users before the first sources_open(). */
void sources_want(struct sources *s, const struct source_use *uses);

/* Opens those of the list that are not open yet. A source that failed once is not tried again. On failure of
 * one that is not optional -errno and its reason; what was opened stays until sources_close(). */
int sources_open(struct sources *s, const struct source_use *uses, struct hook_report hooks[MAX_HOOKS],
                 struct error *why);

/* The state of an open source; NULL: it is not open. */
void *source_state(const struct source_context *context, const struct source *source);

/* For open() of a source that builds on another: opens that with these needs added. -EBUSY: it is open
 * without them. */
int source_require(const struct source_context *context, const struct source_use *use,
                   struct hook_report hooks[MAX_HOOKS], struct error *why);

/* A window, of all that are open. The time from sources_flip() to sources_collect() is the caller's. */
void sources_flip(const struct sources *s);
int sources_collect(const struct sources *s, const struct window *window, struct error *why);
void sources_shown(const struct sources *s);
uint64_t sources_lost(const struct sources *s);
void sources_tick(const struct sources *s);
void sources_cost(const struct sources *s, struct program_cost *cost); /* adds */

void sources_close(struct sources *s); /* the last one first */

#endif
