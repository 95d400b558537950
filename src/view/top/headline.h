/* SPDX-License-Identifier: GPL-2.0-only */
/* Which resource is short in a window, what takes most of it, and how many others lose how much. */
#ifndef HOG_VIEW_TOP_HEADLINE_H
#define HOG_VIEW_TOP_HEADLINE_H

#include "base/paragraph.h"
#include "view/top/state.h"

struct headline {
    const char *resource; /* "cpu", "memory", "quota", "none", or the name of a disk; NULL: unknown */
    double demand;        /* threads that want it, mean over the window; < 0: unknown */
    double capacity;      /* CPUs; < 0: unknown */
    char disk[DISK_NAME];
    char hog[CULPRIT]; /* process or group that takes most of it; empty: unknown */
    double share_pct;  /* what it takes of what is used; < 0: unknown */
    double single_pct; /* of many short-lived processes the most that one ran, of the window; < 0: no such */
    size_t losers;     /* other processes that lose at least a tenth of the window to it */
    double least_pct, most_pct; /* what these lose, in percent of the window */
    struct paragraph text;
};

/* After ranking. */
void top_headline(struct top *top, struct headline *headline);

#endif
