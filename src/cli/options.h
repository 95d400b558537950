/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line: hog [VIEW..] [OPTIONS] [INTERVAL [COUNT]], hog track PID.., hog pin DIR .. */
#ifndef HOG_CLI_OPTIONS_H
#define HOG_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "view/view.h"
#include "out/out.h"
#include "rows/rows.h"
#include "source/shared/run_options.h"
#include "verdict/thresholds.h"
#include "base/error.h"

#define MAX_VIEWS  16
#define MAX_TOPICS 16

struct options {
    enum run_mode {
        RUN_VIEWS,
        RUN_DOCTOR,
        RUN_PIN,
        RUN_READ,
        RUN_UNPIN,
        RUN_REPORT,
        RUN_DIFF,
        RUN_THRESHOLDS,
        RUN_HELP,
        RUN_VERSION
    } mode;
    struct run_options run;       /* run.pinned: the directory of RUN_PIN, RUN_READ and RUN_UNPIN */
    const char *views[MAX_VIEWS]; /* names of views: their own pointers */
    size_t nviews;
    uint64_t interval_ns; /* 1 ms .. 1 day; default: the view's, or 1 s */
    uint64_t count;       /* windows; 0: no limit */
    uint32_t pids[MAX_PIDS];
    size_t npids;
    bool self, no_header;
    enum out_format format;
    bool format_given;      /* by -o */
    bool top_given;         /* by -k */
    bool human;             /* values with units; only on a terminal */
    bool why_all;           /* INTERVAL follows hog why: nothing else does */
    const char *why_target; /* PID, NAME or UNIT of hog why; or NULL */
    char **command;         /* what runs while it is measured, NULL-terminated as for exec; NULL: none */
    struct thresholds thresholds;
    uint32_t with, by;    /* of enum rows_word; by: one of them, or 0 */
    const char *sort;     /* columns, the largest first; or NULL */
    bool reverse;         /* the smallest first */
    bool wide;            /* all columns, and the lines of totals */
    const char *show;     /* --columns: "a,b", or "+a,b"; or NULL */
    const char *textfile; /* file that prom replaces in each window, in place of stdout */
    unsigned rows_kib;    /* memory for rows before grouping (hidden, for tests); 0: the default */
    /* record, report, diff */
    const char *record;                 /* the file to record to, or NULL */
    uint64_t max_size;                  /* bytes of a file */
    unsigned keep;                      /* older files, 0..99 */
    const char *files[2];               /* recordings to read */
    const char *from, *to;              /* times, or NULL */
    const char *topics[MAX_TOPICS + 1]; /* of help; ends with NULL */
};

/* Parses argv, and sets the values of the options that views own. known: all views, ends with NULL.
 * 0, or -EINVAL with one line that says what was wrong and what is allowed. */
int options_parse(struct options *options, int argc, char **argv, const struct view *const *known,
                  struct error *why);

#endif
