/* SPDX-License-Identifier: GPL-2.0-only */
/* A run on the screen: what its keys ask for while it measures. Grouping, filter and order are of the rows
 * alone; other views, and rows of threads, need another session. */
#ifndef HOG_CLI_LIVE_H
#define HOG_CLI_LIVE_H

#include "base/status.h"
#include "cli/options.h"
#include "screen/screen.h"

struct run;

struct live {
    const struct options *asked;
    struct options options;              /* of the session that is open */
    const struct view *pages[MAX_VIEWS]; /* after those asked for; the session is of one of them then */
    size_t npages;
    struct screen_wish met;
};

/* Whether stdin and stdout are a terminal and no option asks for lines. */
bool live_is_wanted(const struct options *asked);

/* The options of the run: those that were asked for, with what the screen needs. */
const struct options *live_options(struct live *live, const struct options *asked);

/* The screen takes the lines in place of stdout. */
enum status live_open(struct run *run);

/* Before the rows of a window are written. */
void live_follow(struct run *run);
/* The rows that the screen asks for. */
void live_rows_options(struct run *run);

/* Ends the session and begins the one that the screen asks for, or one that this host can do. */
enum status live_reopen(struct run *run);

#endif
