/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOG_SCREEN_SCREEN_PRIVATE_H
#define HOG_SCREEN_SCREEN_PRIVATE_H

#include "out/lines.h"
#include "screen/frame.h"
#include "screen/load.h"
#include "screen/screen.h"
#include "screen/terminal.h"

#define SCREEN_VIEWS   24
#define SCREEN_COLUMNS 64
#define SCREEN_NOTICES 2048

struct screen_column {
    const char *name;            /* in the header of its view, not terminated */
    unsigned char length, width; /* width: of what was seen of it so far */
    bool left, known;            /* words; some value was seen */
    bool asked;                  /* by a key */
    const struct column *column; /* NULL: not of the view itself */
};

struct screen_view {
    char name[32];
    char *header; /* "#top\tpid\tcpu_pct..." */
    unsigned n;
    struct screen_column columns[SCREEN_COLUMNS];
    unsigned from;          /* rows above the first that is shown */
    char sort[SCREEN_WORD]; /* column by which rows go; "": as they came */
    bool upwards;
};

/* Columns of a view that are shown, and how wide. */
struct layout {
    unsigned n, column[SCREEN_COLUMNS], width[SCREEN_COLUMNS];
};

/* The rows of a view, in their order. */
struct table {
    struct screen_view *view;
    unsigned n;
    const char *rows[SCREEN_ROWS];
};

enum screen_page { PAGE_TABLE, PAGE_DETAIL, PAGE_HELP };

/* What was typed behind /, and how it may be shown. */
struct screen_filter {
    char bytes[32], shown[32 * 4 + 16];
    size_t n;
};

struct screen {
    struct lines_sink sink;
    struct frame frame;
    struct screen_text next, now; /* the window that is written; that which is shown */
    struct screen_text next_told, told;
    struct screen_view views[SCREEN_VIEWS];
    unsigned nviews;
    const struct schema *const *schemas;
    struct screen_options options;
    struct screen_wish wish, met; /* met: by the run, as far as it has to begin anew for it */
    enum screen_page page;
    unsigned scroll;      /* of a page that is no table */
    unsigned view;        /* that the selected row is of */
    uint64_t selected;    /* identity of that row; 0: none */
    unsigned at;          /* where it was last */
    bool moved;           /* by a key */
    unsigned column;      /* that left and right chose: its place in the header, from 1; 0: none */
    struct layout layout; /* of that view, as last drawn */
    unsigned height_of_rows;
    struct screen_text detail; /* the row that is shown in full, as it last was */
    unsigned detail_view;
    struct screen_filter filter;
    unsigned typed; /* the number behind k */
    bool typing, filtering, paused, wide;
    unsigned gutter; /* characters on the left that mark the selected row where there are no colours */
    unsigned width, height;
    uint64_t drawn;               /* when, CLOCK_MONOTONIC ns */
    int64_t ended;                /* the window that is shown: seconds of CLOCK_REALTIME */
    char notices[SCREEN_NOTICES]; /* messages: written when the terminal is given back */
    size_t noticed, notice;       /* their length; where the last one begins */
    uint64_t notice_ns;
    struct load load;
    int signals;
    struct terminal terminal;
};

/* ---- table.c ---- */

/* The rows of a view that pass the filter. */
void table_find(const struct screen *screen, struct screen_view *view, struct table *table);
/* What a row is about, which it is found by in the next window; not 0. */
uint64_t table_identity(const struct table *table, unsigned row);
/* A field as it is shown: text is where it may be written to. */
struct text_field table_cell(const struct screen *screen, const struct screen_column *column,
                             struct text_field field, char *text);
/* Height: rows that there is room for, with the header. */
void table_draw(struct screen *screen, struct table *table, unsigned height, unsigned kept);

/* ---- layout.c ---- */

/* Which columns a view shows. wide: all, those from `scroll` on as far as they fit. */
void layout_fit(const struct screen *screen, const struct screen_view *view, struct layout *layout);

/* ---- head.c ---- */

/* Title, bars and headline; fewer where the terminal is low. `kept`: rows at the end that are not for it. */
void head_draw(struct screen *screen, unsigned kept);
/* A line of the window that begins with "#name"; NULL: there is none. */
const char *screen_note(const struct screen *screen, const char *name);

/* ---- pages.c ---- */

void page_help(struct screen *screen, unsigned kept);
void page_detail(struct screen *screen, unsigned kept);

/* ---- keys.c ---- */

/* True: to end. */
bool keys_take(struct screen *screen, const char *keys, size_t n);

/* ---- draw.c ---- */

/* All of it to the terminal; plain: without escapes, for what stays on it. */
void screen_draw(struct screen *screen, bool plain);

#endif
