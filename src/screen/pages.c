// SPDX-License-Identifier: GPL-2.0-only
/* What Enter and ? show in place of the tables. */
#include <stdlib.h>
#include <string.h>
#include "out/human.h"
#include "screen/screen_private.h"

#define NAME_WIDTH  16
#define VALUE_WIDTH 14

/* A page that may be longer than the terminal is high: its first rows are left out. */
struct page {
    struct screen *s;
    unsigned row, kept;
};

/* False: this row is not shown. */
static bool page_row(struct page *page)
{
    return page->row++ >= page->s->scroll && frame_row(&page->s->frame, page->kept);
}

static void page_text(struct page *page, const char *text, size_t length)
{
    if (page_row(page))
        frame_put(&page->s->frame, text, length);
}

void page_help(struct screen *s, unsigned kept)
{
    static const char *const rows[] = {
        "up, down       select a row; PgUp, PgDn, Home, End go further",
        "Enter          all of the row, and why its process is slow; Esc goes back",
        "left, right    choose a column",
        "s              sort by it: largest first, smallest first, order of the view",
        "/              show only names with this in them, or that fit a glob (*, ?, [])",
        "Esc            no filter, no selected row",
        "Tab, Shift-Tab the next view, the one before",
        "g              rows of processes, names, cgroups, containers, users",
        "t              rows of threads",
        "w              all columns: left, right scroll them",
        "k              number of rows of a view: 0 is as many as fit",
        "h              values with units",
        "space          pause, go on",
        "q              quit; the last window stays on the terminal",
    };
    struct page page = {.s = s, .kept = kept};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        page_text(&page, rows[i], strlen(rows[i]));
    s->scroll = s->scroll < page.row ? s->scroll : page.row - 1;
}

/* The selected row is in this window: remembers it for those in which it is not. */
static bool refresh_detail(struct screen *s)
{
    struct table table;

    for (unsigned i = 0; i < s->nviews; i++) {
        table_find(s, &s->views[i], &table);
        for (unsigned row = 0; row < table.n; row++) {
            if (table_identity(&table, row) != s->selected)
                continue;
            s->detail.length = 0;
            s->detail_view = i;
            text_add(&s->detail, table.rows[row], strcspn(table.rows[row], "\n"));
            return true;
        }
    }
    return false;
}

static void put_told(struct page *page, const char *text)
{
    bool some = *text;

    for (size_t n; *text; text += n + (text[n] == '\n' || text[n] == ' ')) {
        n = text_row(text, page->s->width);
        page_text(page, text, n);
    }
    if (some)
        page_text(page, "", 0);
}

static void put_column(struct page *page, const struct screen_view *view, unsigned i)
{
    const struct screen_column *column = &view->columns[i - 1];
    struct frame *f = &page->s->frame;
    struct text_field field;
    char text[HUMAN_TEXT];

    if (!page_row(page))
        return;
    field.length = text_field(page->s->detail.bytes, i, &field.bytes);
    const struct text_field cell = table_cell(page->s, column, field, text);
    bool wide = text_characters(cell.bytes, cell.length) > VALUE_WIDTH;
    frame_style(f, STYLE_BOLD);
    frame_cell(f, column->name, column->length, NAME_WIDTH, true);
    frame_style(f, STYLE_NONE);
    frame_blanks(f, 1);
    frame_cell(f, cell.bytes, cell.length, wide ? f->width : VALUE_WIDTH, true);
    frame_blanks(f, 1);
    if (!wide && column->column)
        frame_text(f, column->column->help);
}

/* What rows show without -w stands first here, too. */
static bool is_default(const struct screen_column *column)
{
    return !column->column || column->column->use & COLUMN_DEFAULT;
}

void page_detail(struct screen *s, unsigned kept)
{
    static const char missing[] = "not in this window: it ended, or did nothing; its last values:";
    struct page page = {.s = s, .kept = kept};

    if (!refresh_detail(s))
        page_text(&page, missing, sizeof missing - 1);
    if (s->told.length)
        put_told(&page, s->told.bytes);
    const struct screen_view *view = &s->views[s->detail_view];
    bool known = s->detail.length && s->detail_view < s->nviews;
    for (unsigned i = 1; known && i <= view->n; i++)
        if (is_default(&view->columns[i - 1]))
            put_column(&page, view, i);
    for (unsigned i = 1; known && i <= view->n; i++)
        if (!is_default(&view->columns[i - 1]))
            put_column(&page, view, i);
    s->scroll = s->scroll < page.row ? s->scroll : page.row - 1;
}
