/* SPDX-License-Identifier: GPL-2.0-only */
/* The state of a run: run.c opens it and ends its windows, run_print.c writes them. */
#ifndef HOG_CLI_RUN_PRIVATE_H
#define HOG_CLI_RUN_PRIVATE_H

#include <signal.h>
#include "history/recorder.h"
#include "rows/rows.h"
#include "screen/screen.h"
#include "base/status.h"
#include "cli/self.h"
#include "cli/session.h"

/* A run on the screen: what its keys ask for while it measures. Grouping, filter and order are of the rows
 * alone; other views, and rows of threads, need another session. */
struct live {
    const struct options *asked;
    struct options options;              /* of the session that is open */
    const struct view *pages[MAX_VIEWS]; /* after those asked for; the session is of one of them then */
    size_t npages;
    struct screen_wish met;
    struct filter_options filters; /* those of the command line and the screen */
};

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
    struct live *live;         /* what the screen asked for, or NULL */
    struct self self;
    unsigned late;                 /* windows in a row that ended late */
    unsigned alerts;               /* windows in a row with a verdict of --alert */
    uint64_t rows_lost, ever_lost; /* rows dropped for lack of memory: in the window before, in total */
    uint64_t skipped;              /* grid points that passed before the window ended */
    sigset_t ending;               /* the signals that end a run */
    int ending_fd;                 /* readable when there is one of them; -1: not made yet */
};

/* A session with its rows, and the rows again with other options; the views are not open yet. */
enum status run_open_session(struct run *run);
enum status run_open_rows(struct run *run);
enum status run_open_views(struct run *run);

void run_choose_columns(struct run *run);

/* ---- run_live.c ---- */

/* Whether stdin and stdout are a terminal and no option asks for lines. */
bool live_is_wanted(const struct options *asked);

/* The options of the run: those that were asked for, with what the screen needs. */
const struct options *live_options(struct live *live, const struct options *asked);

/* The screen takes the lines in place of stdout. */
enum status live_open(struct run *run);

/* Before the rows of a window are written. */
void live_follow(struct run *run);
/* What a view says of the process whose details the screen shows. */
void live_explain(struct run *run);
/* The rows that the screen asks for. */
void live_rows_options(struct run *run);

/* Ends the session and begins the one that the screen asks for, or one that this host can do. */
enum status live_reopen(struct run *run);

/* ---- run_print.c ---- */

/* Writes the window that has ended. 0, or -errno of the output. */
int run_print(struct run *run);

/* Writes what views show before the window's end. 0, or -errno of the output. */
int run_print_now(struct run *run);

#endif
