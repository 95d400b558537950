/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOG_SCREEN_SCREEN_PRIVATE_H
#define HOG_SCREEN_SCREEN_PRIVATE_H

#include "out/lines.h"
#include "screen/screen.h"
#include "screen/terminal.h"

#define SCREEN_VIEWS   24
#define SCREEN_COLUMNS 64

/* Lines of a window, as they came: rows of tabs. */
struct screen_text {
    char *bytes;
    size_t length, room;
};

struct screen_view {
    char name[32];
    char *header; /* "#top\trank\tpid..." */
    unsigned columns;
    int sorted; /* column by which rows go; -1: as they came */
    bool upwards;
};

struct screen {
    struct lines_sink sink;
    struct screen_text next, now; /* the window that is written; that which is shown */
    struct screen_view views[SCREEN_VIEWS];
    unsigned nviews;
    unsigned view, column; /* that the arrows chose */
    unsigned top;          /* rows a view */
    const struct schema *const *schemas;
    unsigned typed; /* the number behind k */
    bool typing, paused, colour, human;
    unsigned width, height;
    uint64_t drawn; /* when, CLOCK_MONOTONIC ns */
    int signals;
    struct terminal terminal;
};

/* A field of a line of tabs, 0 being the view's name. Its length. */
size_t screen_field(const char *line, unsigned i, const char **field);

/* All of it to the terminal; plain: without escapes, for what stays on it. */
void screen_draw(struct screen *screen, bool plain);

#endif
