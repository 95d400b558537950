/* SPDX-License-Identifier: GPL-2.0-only */
/* A source measures one thing: it loads and attaches BPF programs, or reads files, and keeps the sums of a
 * window. Views show them. src/source/NAME defines one `const struct source NAME_source`.
 * A session opens each source once, with the union of what its views need (source/shared/sources.h). A window
 * ends with flip() of all sources at the same moment and, after the sketches' grace time, collect() of each
 * in opening order. The first flip() and collect() start the first window.
 */
#ifndef HOG_SOURCE_SHARED_SOURCE_H
#define HOG_SOURCE_SHARED_SOURCE_H

#include <stdbool.h>
#include <stdint.h>
#include "source/shared/run_options.h"
#include "loader/kernel/attach.h"

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
        PURPOSE_TRY, /* doctor: only whether it can be opened */
        PURPOSE_PIN, /* counts in maps that others read */
    } purpose;
    const struct run_options *options;
    struct targets *targets; /* processes asked for; empty: all */
    struct names *names;
    struct pidns *pidns;               /* the PID namespace of the PIDs in rows */
    const struct prefilter *prefilter; /* what programs leave out; or NULL */
    bool groups;                       /* rows need cgroups of tasks */
    const struct targets *subject;     /* the processes of hog why; or NULL */
    struct sources *sources;           /* those that are open */
};

/* A window, half open. Times in ns; mono is CLOCK_MONOTONIC. */
struct window {
    uint64_t seq; /* 1.. */
    uint64_t begin_mono, end_mono;
    uint64_t begin_wall, end_wall; /* since the epoch, UTC */
    uint64_t begin_offset;         /* from the start of the run to begin */
};

/* Alternatives for one hook of a source, best first. */
struct hook_ways {
    const char *what; /* NULL: the end of the list */
    const struct alternative *list;
    size_t n;
};

/* Which alternative was attached, and why not a better one. */
struct hook_report {
    const char *what; /* "switch", "exit", "start" (runs once) */
    const char *hook; /* NULL: none */
    bool needed;      /* without it the source does not work */
    struct choice choice;
};
#define MAX_HOOKS 8

/* Cost of a source's BPF programs: the kernel's own count, only while its statistics are on. */
struct program_cost {
    uint64_t run_ns, run_count;
};

#define SOURCE_TICK_NS 5000000000ull

struct source {
    const char *name;
    bool builds; /* its open() opens other sources with more needs: it is opened before its peers */
    const struct hook_ways *ways; /* all hooks that open() may choose from; NULL: none */
    /* Loads and attaches. needs: the union of what the session's views need, as bits from its header. On
     * failure -errno and a reason that says what would help; nothing stays attached. `hooks` gets what was
     * tried, also on failure. */
    int (*open)(void **state, const struct source_context *context, unsigned needs,
                struct hook_report hooks[MAX_HOOKS], struct error *why);
    void (*flip)(void *state); /* NULL: it has no banks */
    void (*tick)(void *state); /* between flips, every SOURCE_TICK_NS or sooner; or NULL */
    /* For what cannot wait until the flip: a descriptor that poll() finds readable when there is something,
     * and what is called then. NULL: nothing. */
    int (*wake_fd)(void *state);
    uint64_t wake_gap_ns; /* it is not woken again before */
    void (*wake)(void *state);
    int (*collect)(void *state, const struct window *window, struct error *why); /* NULL: read on demand */
    void (*shown)(void *state);    /* all rows of the window are written; or NULL */
    uint64_t (*lost)(void *state); /* events dropped in the window, of those needed; NULL: none */
    void (*cost)(void *state, struct program_cost *cost); /* adds; NULL: no programs */
    void (*close)(void *state);
    /* Loads and attaches programs that keep counting after hog exits (docs/pinned.md): counts only grow and
     * are right without a reader. All links are pinned, and all maps except those of variables. If the
     * options name a directory, open() of such a source uses pinned_open(). NULL: it cannot be pinned. */
    int (*pin)(struct collector *collector, const struct source_context *context,
               struct hook_report hooks[MAX_HOOKS], struct error *why);
};

#endif
