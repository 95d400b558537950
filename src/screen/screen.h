/* SPDX-License-Identifier: GPL-2.0-only */
/* The live view on a terminal: each window is drawn over the one before. */
#ifndef HOG_SCREEN_SCREEN_H
#define HOG_SCREEN_SCREEN_H

#include <stdbool.h>
#include <stdint.h>
#include "out/column.h"

#define SCREEN_ROWS 200 /* of a view: more than a terminal is high */
#define SCREEN_WORD 64

struct screen;

/* What keys ask for that only the run can do. */
struct screen_wish {
    int page;     /* 0: the views of the command line; others are counted from there, either way */
    bool threads; /* rows are of threads */
    uint32_t by;  /* of enum rows_word; 0: rows are not grouped */
    char filter[SCREEN_WORD]; /* a glob for comm; "": none */
    char sort[SCREEN_WORD];   /* a column, the largest first; "": the order of the view */
    bool reverse;             /* the smallest first */
    uint32_t pid;             /* of the row whose details are shown; 0: of none */
};

struct screen_options {
    unsigned top; /* rows a view; 0: as many as there is room for */
    bool human, threads, wide;
    uint32_t by;
    uint64_t interval_ns;
};

/* Whether stdin and stdout are a terminal that can be drawn on. */
bool screen_is_possible(void);

/* NULL: out of memory. Takes lines of OUT_TSV. Nothing is drawn before screen_enter(). */
struct screen *screen_open(const struct screen_options *options);
struct lines_sink *screen_sink(struct screen *screen);

/* The views that the lines are of from now on: ends with NULL; must outlive them. */
void screen_views(struct screen *screen, const struct schema *const *schemas);

/* 0 or -errno: it is a terminal that cannot be drawn on. Signals that it takes are blocked by then. */
int screen_enter(struct screen *screen);

const struct screen_wish *screen_wish(const struct screen *screen);
/* Rows of a view that can be seen, and those that keys get to next: what more there is costs time. */
unsigned screen_rows(const struct screen *screen);
/* That wish cannot be met. */
void screen_refuse(struct screen *screen, const struct screen_wish *instead);

/* What is said of the process of screen_wish(), in lines: with the window that is being written. */
void screen_tell(struct screen *screen, const char *text);

/* The window that was written to the sink is whole. */
void screen_end_window(struct screen *screen);

/* Waits so long for keys and signals, or less. */
enum screen_event { SCREEN_ON, SCREEN_END, SCREEN_REOPEN };
enum screen_event screen_wait(struct screen *screen, uint64_t ns);

/* Gives the terminal back; what was last shown is left on it. Frees. */
void screen_close(struct screen *screen);

#endif
