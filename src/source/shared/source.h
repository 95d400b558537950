/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A source measures one thing: it loads and attaches BPF programs, or reads files, and has what they say of a
 * window. Views show it. src/source/NAME ends in one `const struct source NAME_source`.
 *
 * A session opens each source once, with the union of what its views need (source/shared/sources.h). A
 * window: flip() of all sources at the same moment; then, after the grace that the sketches need, collect()
 * of each in the order in which they were opened. The first flip and collect() begin the first window.
 */
#ifndef HOG_SOURCE_SHARED_SOURCE_H
#define HOG_SOURCE_SHARED_SOURCE_H

#include <stdbool.h>
#include <stdint.h>
#include "source/shared/run_options.h"
#include "loader/attach.h"

struct collector;
struct names;
struct pidns;
struct prefilter;
struct sources;
struct targets;

/* What the sources and views of a session share. */
struct source_context {
    enum session_purpose {
        PURPOSE_MEASURE,
        PURPOSE_TRY, /* doctor: whether it can be opened, no more */
        PURPOSE_PIN, /* counts in maps that others read */
    } purpose;
    const struct run_options *options;
    struct targets *targets; /* the processes asked for; empty: all */
    struct names *names;
    struct pidns *pidns;               /* the PID namespace of the numbers in rows */
    const struct prefilter *prefilter; /* what the programs leave out; or NULL */
    bool groups;                       /* rows need the control groups of tasks */
    const struct targets *subject;     /* the process that --why asks about: none or one; or NULL */
    struct sources *sources;           /* those that are open */
};

/* A window, half open. Times in ns; mono is CLOCK_MONOTONIC. */
struct window {
    uint64_t seq; /* 1.. */
    uint64_t begin_mono, end_mono;
    uint64_t begin_wall, end_wall; /* since the epoch, UTC */
    uint64_t begin_offset;         /* begin since the start of the run */
};

/* The alternatives for one of the things that a source hooks, best first. */
struct hook_ways {
    const char *what; /* NULL: the end of the list */
    const struct alternative *list;
    size_t n;
};

/* Which hook a program got, and why not a better one. */
struct hook_report {
    const char *what; /* "switch", "exit", "start" (what runs at the start) */
    const char *hook; /* NULL: none */
    bool needed;      /* without it the source does not work */
    struct choice choice;
};
#define MAX_HOOKS 8

/* What the BPF programs of a source cost: the kernel's own count, only while its statistics are on. */
struct program_cost {
    uint64_t run_ns, run_count;
};

#define SOURCE_TICK_NS 5000000000ull

struct source {
    const char *name;
    bool builds; /* its open() opens others with what it needs of them: it comes before its peers */
    const struct hook_ways *ways; /* all hooks that open() may choose from; NULL: it hooks nothing itself */
    /* needs: the union of what the views of the session ask of it, bits that its header defines. Loads and
     * attaches. On failure -errno and a reason that says what would help; nothing stays. `hooks` gets what
     * was tried, also on failure. */
    int (*open)(void **state, const struct source_context *context, unsigned needs,
                struct hook_report hooks[MAX_HOOKS], struct error *why);
    void (*flip)(void *state); /* NULL: it has no banks */
    void (*tick)(void *state); /* between flips, every SOURCE_TICK_NS or sooner; NULL: no need */
    int (*collect)(void *state, const struct window *window, struct error *why); /* NULL: on demand */
    void (*shown)(void *state);    /* all rows of the window are written; NULL: no need */
    uint64_t (*lost)(void *state); /* events dropped in the window, of what was needed; NULL: none can be */
    void (*cost)(void *state, struct program_cost *cost); /* adds; NULL: it has no programs */
    void (*close)(void *state);
    /* Loads and attaches programs that go on counting after hog (docs/pinned.md): counts only grow, and are
     * right without a reader. All maps of the object but those of variables are pinned, and all links. open()
     * of such a source takes its maps by pinned_open() where the options name a directory. NULL: it cannot be
     * pinned. */
    int (*pin)(struct collector *collector, const struct source_context *context,
               struct hook_report hooks[MAX_HOOKS], struct error *why);
};

#endif
