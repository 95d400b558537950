/* SPDX-License-Identifier: GPL-2.0-only */
/* The open sources of a session, each once. */
#ifndef HOG_SOURCE_SHARED_SOURCES_H
#define HOG_SOURCE_SHARED_SOURCES_H

#include <stddef.h>
#include "source/shared/source.h"

/* A source that a view or another source uses. */
struct source_use {
    const struct source *source; /* NULL: the end of the list */
    unsigned needs;
    bool optional; /* the view works without it */
};

#define MAX_SOURCES 16

struct sources {
    struct source_context *context;
    struct wanted_source {
        const struct source *source;
        unsigned needs;
        bool open, failed;
        void *state;
        uint64_t woken; /* CLOCK_MONOTONIC, ns */
    } wanted[MAX_SOURCES];
    size_t n;
    struct wanted_source *order[MAX_SOURCES]; /* open sources, in opening order */
    size_t nopen;
};

/* Adds needs. Call it for all users before the first sources_open(). */
void sources_want(struct sources *s, const struct source_use *uses);

/* Opens the sources of the list that are not open yet. A source that failed is not tried again. If one that
 * is not optional fails: -errno and a reason; open sources stay open until sources_close(). */
int sources_open(struct sources *s, const struct source_use *uses, struct hook_report hooks[MAX_HOOKS],
                 struct error *why);

/* The state of an open source; NULL: it is not open. */
void *source_state(const struct source_context *context, const struct source *source);

/* For the open() of a source: opens another one with these needs added. -EBUSY: it is open without them. */
int source_require(const struct source_context *context, const struct source_use *use,
                   struct hook_report hooks[MAX_HOOKS], struct error *why);

/* A window of all open sources. The caller keeps the grace time between sources_flip() and sources_collect().
 */
void sources_flip(const struct sources *s);
int sources_collect(const struct sources *s, const struct window *window, struct error *why);
void sources_shown(const struct sources *s);
uint64_t sources_lost(const struct sources *s);
void sources_tick(const struct sources *s);
/* The descriptors that may wake sources between flips, MAX_SOURCES at most: of those whose gap is over.
 * *next: when that of another one is (CLOCK_MONOTONIC, ns); UINT64_MAX: none. */
size_t sources_wake_fds(const struct sources *s, uint64_t now, int fds[MAX_SOURCES], uint64_t *next);
bool sources_can_wake(const struct sources *s);
void sources_wake(struct sources *s, uint64_t now); /* all of these: each looks whether it has something */
void sources_cost(const struct sources *s, struct program_cost *cost); /* adds */

void sources_close(struct sources *s); /* the last one first */

#endif
