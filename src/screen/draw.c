// SPDX-License-Identifier: GPL-2.0-only
/* Puts a picture together: head, page, and a row for the keys. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/clock.h"
#include "screen/screen_private.h"

#define LEAST_HELPED 5 /* rows of a terminal that has one for the keys */
#define PROMPT       2 /* rows that the shell has below what stays */
#define NOTICE_NS    8000000000u

/* As many hints as fit. */
static void put_hints(struct frame *f, const char *const *hints)
{
    frame_style(f, STYLE_DIM);
    for (; *hints && f->used + strlen(*hints) + 2 <= f->width + (f->used ? 0 : 2); hints++) {
        frame_blanks(f, f->used ? 2 : 0);
        frame_text(f, *hints);
    }
    frame_style(f, STYLE_NONE);
}

static void put_last_row(struct screen *s)
{
    static const char *const table[] = {"q quit",  "? help",      "/ filter", "Enter details",
                                        "g group", "t threads",   "w wide",   "Tab view",
                                        "s sort",  "space pause", NULL};
    static const char *const page[] = {"q quit", "Esc back", "up, down scroll", "space pause", NULL};
    struct frame *f = &s->frame;

    if (s->typing) {
        frame_format(f, "rows of each view: %u", s->typed);
    } else if (s->filtering) {
        frame_text(f, "names with: ");
        frame_text(f, s->filter.shown);
        frame_text(f, "_");
    } else if (s->notice < s->noticed && s->drawn - s->notice_ns < NOTICE_NS) {
        frame_put(f, s->notices + s->notice, s->noticed - s->notice - 1);
    } else {
        put_hints(f, s->page == PAGE_TABLE ? table : page);
    }
}

/* Rows for each table, with its header: what one does not need, the others get. */
static void share_rows(const struct table *tables, unsigned n, unsigned rows, unsigned heights[])
{
    for (unsigned i = 0; i < n; i++)
        heights[i] = 0;
    for (unsigned given = 1; rows && given;) {
        given = 0;
        for (unsigned i = 0; i < n && rows; i++) {
            if (heights[i] == tables[i].n + 1)
                continue;
            heights[i]++;
            rows--;
            given = 1;
        }
    }
}

static void draw_tables(struct screen *s, unsigned kept)
{
    struct table *tables = calloc(s->nviews + 1, sizeof *tables);
    unsigned heights[SCREEN_VIEWS], n = 0;
    unsigned rows = s->height > s->frame.row + kept ? s->height - s->frame.row - kept : 0;

    for (unsigned i = 0; tables && i < s->nviews; i++) {
        table_find(s, &s->views[i], &tables[n]);
        n += tables[n].n != 0;
    }
    share_rows(tables, tables ? n : 0, rows, heights);
    for (unsigned i = 0; i < n; i++)
        table_draw(s, &tables[i], heights[i], kept);
    if (!n && frame_row(&s->frame, kept))
        frame_text(&s->frame, !s->ended         ? "the first window is being measured"
                              : *s->wish.filter ? "no row passes the filter"
                                                : "nothing to show in this window");
    free(tables);
}

void screen_draw(struct screen *s, bool plain)
{
    unsigned kept = plain ? PROMPT : s->height >= LEAST_HELPED;

    s->drawn = clock_ns(CLOCK_MONOTONIC);
    s->gutter = !s->frame.colour;
    frame_begin(&s->frame, s->width, s->height, plain);
    head_draw(s, kept);
    if (s->page == PAGE_HELP && !plain)
        page_help(s, kept);
    else if (s->page == PAGE_DETAIL && !plain)
        page_detail(s, kept);
    else
        draw_tables(s, kept);
    if (kept && !plain) {
        while (frame_row(&s->frame, kept))
            ;
        frame_row(&s->frame, 0);
        put_last_row(s);
    }
    s->moved = false;
    frame_end(&s->frame);
}
