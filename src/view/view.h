/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A view shows what sources measured. Each file of src/view that shows one ends in `const struct view
 * NAME_view`; the build makes the table of them.
 *
 * A window: all sources flip at the same moment, so that all views speak of the same window; when the sources
 * have collected, collect() of each view; then fields() and rows().
 */
#ifndef HOG_VIEW_VIEW_H
#define HOG_VIEW_VIEW_H

#include "cli/options.h"
#include "out/out.h"
#include "source/shared/sources.h"

#define MAX_VIEW_SOURCES 4

struct view {
    const char *name;
    const char *summary; /* one line for --help */
    struct schema schema;
    bool of_targets; /* only of the processes asked for: nothing without their numbers */
    bool of_sensors; /* a host without them is well, and doctor's status says so */
    struct source_use sources[MAX_VIEW_SOURCES + 1]; /* ends with NULL */
    const struct source
        *pinned; /* what `hog pin` pins, and `hog read` opens in place of the sources; or NULL */
    /* After its sources. -errno and a reason; nothing stays. */
    int (*open)(void **state, const struct source_context *context, struct error *why);
    int (*collect)(void *state, const struct window *window, struct error *why); /* NULL: nothing to do */
    /* More fields for the window line; returns how many of `fields` it wrote. NULL: none. */
    size_t (*fields)(void *state, struct field *fields, size_t n);
    void (*rows)(void *state, const struct window *window, struct out *out);
    /* Whether the window whose rows were just written has what --alert asks for; NULL: never. */
    bool (*alert)(void *state);
    void (*close)(void *state); /* before its sources */
};

extern const struct view *const views[]; /* by name; ends with NULL */

#endif
