/* SPDX-License-Identifier: GPL-2.0-only */
/* What a run of views is made of, for the sources that do it: run.c opens it and turns its windows,
 * run_print.c writes them. */
#ifndef HOG_RUN_INSIDE_H
#define HOG_RUN_INSIDE_H

#include <signal.h>
#include "history/recorder.h"
#include "host/numbering.h"
#include "host/targets.h"
#include "metric/chosen.h"
#include "metric/metric.h"
#include "rows/rows.h"
#include "screen/screen.h"
#include "self.h"

struct run {
    const struct options *options;
    struct options of_views; /* the same, but for how many rows are asked of a view */
    struct rows *rows;       /* NULL: lines are as views make them */
    struct targets targets;
    struct targets subject; /* of --why */
    struct numbering numbering;
    struct oncpu *oncpu;
    struct chosen *chosen; /* or NULL */
    struct metric_context context;
    const struct metric *metrics[MAX_VIEWS];
    void *states[MAX_VIEWS];
    size_t n; /* opened ones */
    struct out *out;
    struct recorder *recorder; /* or NULL */
    struct screen *screen;     /* or NULL */
    struct self self;
    struct window window;
    unsigned late;                 /* windows in a row that ended late */
    unsigned alerts;               /* windows in a row that have what --alert asks for */
    uint64_t rows_lost, ever_lost; /* rows that found no memory: in the window before, in all */
    uint64_t skipped;              /* grid points that went by unused before the window's end */
    sigset_t ending;               /* the signals that end a run */
};

/* What the programs of all views have cost, ever, is added to cost. */
void run_costs(const struct run *run, struct program_cost *cost);
/* Writes the window that has ended. 0, or -errno of the output. */
int run_print(struct run *run);

#endif
