/* SPDX-License-Identifier: GPL-2.0-only */
/* The state of a run: run.c opens it and ends its windows, run_print.c writes them. */
#ifndef HOG_CLI_RUN_PRIVATE_H
#define HOG_CLI_RUN_PRIVATE_H

#include <signal.h>
#include "history/recorder.h"
#include "rows/rows.h"
#include "screen/screen.h"
#include "cli/self.h"
#include "cli/session.h"

struct run {
    const struct options *options;
    struct options of_views; /* the same, but for how many rows are asked of a view */
    struct rows_options rows_options;
    struct rows *rows;                           /* NULL: lines are written as views make them */
    const struct schema *schemas[MAX_VIEWS + 1]; /* of the views asked for; ends with NULL */
    struct session session;
    struct out *out;
    char also[192];            /* columns that options other than --columns ask for */
    struct recorder *recorder; /* or NULL */
    struct screen *screen;     /* or NULL */
    struct self self;
    unsigned late;                 /* windows in a row that ended late */
    unsigned alerts;               /* windows in a row with a verdict of --alert */
    uint64_t rows_lost, ever_lost; /* rows dropped for lack of memory: in the window before, in total */
    uint64_t skipped;              /* grid points that passed before the window ended */
    sigset_t ending;               /* the signals that end a run */
};

/* Writes the window that has ended. 0, or -errno of the output. */
int run_print(struct run *run);

#endif
