/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a view is made of. Each src/metric/NAME.c that shows a view ends in one `const struct metric
 * NAME_view`; the build makes the table of them.
 *
 * A window: the run loop notes the time and calls flip() of all metrics, so that all views speak of the same
 * window; then, after the grace that the sketches need, collect(), lost(), fields() and rows() of each. The
 * first turn and collect() begin the first window: what was before is not shown.
 */
#ifndef HOG_VIEW_VIEW_H
#define HOG_VIEW_VIEW_H

#include <stdbool.h>
#include <stdint.h>
#include "loader/attach.h"
#include "cli/options.h"
#include "out/out.h"

struct prefilter;
struct targets;
struct names;
struct pidns;
struct sched;

/* What the metrics of a run share. */
struct source_context {
    const struct options *options;
    struct targets *targets; /* the processes asked for; empty: all */
    struct names *names;
    struct pidns *pidns;  /* of the processes in rows */
    struct sched **sched; /* where views that are made from switches find what they share; or NULL */
    const struct prefilter *prefilter; /* whom the kernel's side leaves out; or NULL */
    bool groups;                       /* rows need the control groups of tasks */
    const struct targets *subject;     /* the process that --why asks about: none or one; or NULL */
};

/* A window, half open. Times in ns; mono is CLOCK_MONOTONIC. */
struct window {
    uint64_t seq; /* 1.. */
    uint64_t begin_mono, end_mono;
    uint64_t begin_wall, end_wall; /* since the epoch, UTC */
    uint64_t begin_offset;         /* begin since the start of the run */
};

/* The alternatives for one of the things that a view hooks, best first. */
struct hook_ways {
    const char *what; /* NULL: the end of the list */
    const struct alternative *list;
    size_t n;
};

/* Which hook a program got, and why not a better one. */
struct hook_report {
    const char *what; /* "switch", "exit", "start" (who runs at the start) */
    const char *hook; /* NULL: none */
    bool needed;      /* without it the view does not work */
    struct choice choice;
};
#define MAX_HOOKS 8

/* What the BPF programs of a view cost: the kernel's own count, only while its statistics are on. */
struct program_cost {
    uint64_t run_ns, run_count;
};

struct collector;

#define VIEW_TICK_NS 5000000000ull

struct view {
    const char *name;
    const char *summary; /* one line for --help */
    struct schema schema;
    bool of_targets;                 /* of the processes asked for alone: nothing without their numbers */
    bool of_sensors;                 /* hosts without are well, and doctor's status says so */
    const struct hook_ways *ways[4]; /* all that open() may choose from, a list a source; ends with NULL */
    /* Loads and attaches. On failure -errno and a reason that says what would help; nothing stays. `hooks`
     * (may be NULL) gets what was tried, also on failure. */
    int (*open)(void **state, const struct source_context *context, struct hook_report hooks[MAX_HOOKS],
                struct error *why);
    void (*flip)(void *state);
    void (*tick)(void *state); /* between turns, every VIEW_TICK_NS or sooner; NULL: no need */
    int (*collect)(void *state, const struct window *window, struct error *why);
    uint64_t (*lost)(void *state); /* events that were dropped in the window */
    /* More fields for the window line; returns how many of `fields` it wrote. */
    size_t (*fields)(void *state, struct field *fields, size_t n);
    void (*rows)(void *state, const struct window *window, struct out *out);
    /* Whether the window whose rows were just written has what --alert asks for; NULL: never. */
    bool (*alert)(void *state);
    void (*cost)(void *state, struct program_cost *cost); /* adds */
    void (*close)(void *state);
    /* Loads and attaches what counts on after hog (docs/pinned.md): counts only grow, and are right without
     * anybody who reads. All maps of the object but those of variables are pinned, and all links. open() of
     * such a view takes its maps by pinned_open() where the options name a directory. NULL: it cannot be
     * pinned. */
    int (*pin)(struct collector *collector, const struct source_context *context,
               struct hook_report hooks[MAX_HOOKS], struct error *why);
};

extern const struct view *const views[]; /* by name; ends with NULL */

#endif
