/* SPDX-License-Identifier: GPL-2.0-only */
/* A view shows what sources measured. Each view's file ends in `const struct view NAME_view`; the build
 * collects them in a table.
 *
 * Per window: all sources flip at the same moment, so that all views cover the same time; sources collect;
 * then collect(), fields() and rows() of each view. */
#ifndef HOG_VIEW_VIEW_H
#define HOG_VIEW_VIEW_H

#include "base/option.h"
#include "out/out.h"
#include "source/shared/sources.h"

#define MAX_VIEW_SOURCES 5

/* What a view may check and change of the command line when it is asked for. */
struct view_request {
    struct run_options *run;
    uint32_t *by;               /* of enum rows_word; the view clears what it groups by itself */
    uint32_t with;              /* the same for --with */
    const char *sort, *columns; /* comma lists, or NULL */
    size_t npids;
    bool only;    /* no other view is asked for */
    bool command; /* a command follows */
    bool csv;
};

struct view {
    const char *name;
    const char *summary; /* one line for --help */
    struct schema schema;
    bool alone;                        /* not together with other views */
    bool takes_pids;                   /* words after it are PIDs, and it needs one */
    bool takes_command;                /* -- COMMAND: measured while it runs */
    bool is_default;                   /* without VIEW */
    bool pinned_by_default;            /* by `hog pin` without VIEW */
    bool quiet;                        /* as text alone, only windows that lost something have a line */
    bool slows;                        /* what it measures: the screen shows it only if it is asked for */
    const char *unpinnable;            /* appended to "cannot be pinned"; or NULL */
    uint64_t interval_ns;              /* default window; 0: 1 s */
    uint64_t command_interval_ns;      /* the same for a command */
    uint32_t groups_by, shows_with;    /* words of --by and of --with that only this view knows */
    const struct option_spec *options; /* its own; ends with a NULL name; or NULL */
    void *option_values;               /* what their offsets are in; NULL: struct run_options */
    size_t option_bytes;               /* of it: set to 0 before options are parsed */
    /* Optional: checks that only the view can make. 0, or -EINVAL with a reason. */
    int (*check_options)(const struct view_request *request, struct error *why);
    unsigned lacks;     /* of enum option_need: options that need it have no effect */
    unsigned pin_lacks; /* the same for hog pin, whose maps are by thread anyway, or never */
    bool of_targets;    /* needs processes given with -p */
    bool of_sensors;    /* a host without sensors is healthy: doctor's status stays 0 */
    struct source_use sources[MAX_VIEW_SOURCES + 1]; /* ends with NULL */
    const struct source
        *pinned; /* source that `hog pin` pins, and `hog read` opens in place of the others; or NULL */
    /* Called after the sources are open. -errno with a reason leaves nothing open. */
    int (*open)(void **state, const struct source_context *context, struct error *why);
    int (*collect)(void *state, const struct window *window, struct error *why); /* optional */
    /* Optional: adds fields to the window line; returns how many of `fields` it wrote. */
    size_t (*fields)(void *state, struct field *fields, size_t n);
    /* Optional: one line about the window, after the window line. sentence: only the words. */
    void (*headline)(void *state, bool sentence, struct out *out);
    /* Optional: the process in sentences, of the window whose rows were written last. False: it has no row.
     */
    bool (*explain)(void *state, uint32_t pid, void (*line)(void *context, const char *text), void *context);
    void (*rows)(void *state, const struct window *window, struct out *out);
    /* Optional: rows that do not wait for the window's end. Called each time its sources were woken. Returns
     * how many it wrote. */
    size_t (*rows_now)(void *state, struct out *out);
    /* Optional: whether the rows just written meet --alert. */
    bool (*alert)(void *state);
    void (*close)(void *state); /* called before the sources close */
};

extern const struct view *const views[]; /* sorted by name; ends with NULL */

#endif
