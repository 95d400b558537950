/* SPDX-License-Identifier: GPL-2.0-only */
/* Draws a window: as much of its tables as the terminal has room for. */
#include "screen/screen_private.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/decimal.h"
#include "out/human.h"

#define FIXED          2 /* columns on the left that stay: the rank and the task */
#define NAME_MAX_WIDTH 24
#define LEAST_HELPED   5 /* rows of a terminal that has one for the keys */

/* A frame, and where the next character comes. */
struct frame {
    struct screen *s;
    struct lines lines;
    bool plain;
    unsigned row, width; /* width: used of the row */
    unsigned rows;       /* that there may be */
};

/* The columns of a view that are shown, and how wide. */
struct layout {
    unsigned n, column[SCREEN_COLUMNS], width[SCREEN_COLUMNS];
};

/* The rows of a view, in their order. */
struct grid {
    const struct screen_view *view;
    unsigned n;
    const char *rows[SCREEN_ROWS];
};

size_t screen_field(const char *line, unsigned i, const char **field)
{
    for (; i; i--) {
        line += strcspn(line, "\t\n");
        if (*line != '\t') {
            *field = line;
            return 0;
        }
        line++;
    }
    *field = line;
    return strcspn(line, "\t\n");
}

/* Characters, not bytes. */
static unsigned characters(const char *text, size_t length)
{
    unsigned n = 0;

    for (size_t i = 0; i < length; i++)
        n += (text[i] & 0xc0) != 0x80;
    return n;
}

static void style(struct frame *f, const char *escape)
{
    if (f->s->colour && !f->plain)
        lines_text(&f->lines, escape);
}

/* As much as fits. */
static void put(struct frame *f, const char *text, size_t length)
{
    unsigned room = f->plain ? ~0u : f->s->width > f->width ? f->s->width - f->width : 0;
    size_t n = 0;

    while (n < length && room) {
        n++;
        while (n < length && (text[n] & 0xc0) == 0x80)
            n++;
        room--;
        f->width++;
    }
    lines_add(&f->lines, text, n);
}

/* False: the screen is full. */
static bool begin_row(struct frame *f)
{
    if (!f->plain && f->row == f->rows)
        return false;
    if (f->row++)
        lines_text(&f->lines, f->plain ? "\n" : "\033[K\r\n");
    f->width = 0;
    return true;
}

static void put_cell(struct frame *f, const char *text, size_t length, unsigned width, bool left)
{
    unsigned used = characters(text, length), fill = used < width ? width - used : 0;

    if (used > width) {
        for (used = 0, length = 0; used < width; used++)
            for (length++; (text[length] & 0xc0) == 0x80; length++)
                ;
    }
    for (unsigned i = 0; !left && i < fill; i++)
        put(f, " ", 1);
    put(f, text, length);
    for (unsigned i = 0; left && i < fill; i++)
        put(f, " ", 1);
}

/* ---- the rows of a view ---- */

/* For qsort(), which has no context. */
static const struct screen_view *sorting;

/* Numbers from the most down, names from a on; what is not known comes last. */
static int by_column(const void *a, const void *b)
{
    const char *x, *y, *const *left = a, *const *right = b;
    size_t n = screen_field(*left, (unsigned)sorting->sorted, &x),
           m = screen_field(*right, (unsigned)sorting->sorted, &y);
    double p, q;
    bool first = decimal_parse(x, n, &p), second = decimal_parse(y, m, &q);
    int order = first && second ? (p < q) - (p > q) : second - first;

    if (!first && !second) {
        order = memcmp(x, y, n < m ? n : m);
        order = order ? order : (n > m) - (n < m);
    }
    if (sorting->upwards && first == second)
        order = -order;
    return order ? order : (*left > *right) - (*left < *right);
}

static void find_rows(const struct screen *s, const struct screen_view *view, struct grid *table)
{
    size_t name = strlen(view->name);

    table->view = view;
    table->n = 0;
    for (const char *line = s->now.length ? s->now.bytes : NULL; line && *line;
         line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        if (!strncmp(line, view->name, name) && line[name] == '\t' && table->n < SCREEN_ROWS)
            table->rows[table->n++] = line;
    sorting = view;
    if (view->sorted > 0)
        qsort(table->rows, table->n, sizeof *table->rows, by_column);
    if (table->n > s->top)
        table->n = s->top;
}

/* A cell as it is shown: text is where it may be written to. */
static size_t cell_of(const struct screen *s, const struct grid *table, unsigned row, unsigned column,
                      const char **cell, char text[HUMAN_TEXT])
{
    const char *name, *view = table->view->name;
    size_t n = screen_field(table->rows[row], column, cell),
           length = screen_field(table->view->header, column, &name);
    double value;

    if (!s->human || !decimal_parse(*cell, n, &value))
        return n;
    const struct column *known = column_find(s->schemas, view, strlen(view), name, length);
    if (!known || !human_format(known->unit, value, text))
        return n;
    *cell = text;
    return strlen(text);
}

static unsigned width_of(const struct screen *s, const struct grid *table, unsigned column)
{
    const char *field;
    char text[HUMAN_TEXT];
    size_t n = screen_field(table->view->header, column, &field);
    unsigned width = characters(field, n);

    for (unsigned i = 0; i < table->n; i++) {
        n = cell_of(s, table, i, column, &field, text);
        unsigned used = characters(field, n);
        width = used > width ? used : width;
    }
    return width < 40 ? width : 40;
}

static void add_column(struct layout *layout, unsigned column, unsigned width)
{
    if (layout->n == SCREEN_COLUMNS)
        return;
    layout->column[layout->n] = column;
    layout->width[layout->n++] = width;
}

static bool is_named(const struct grid *table, unsigned column, const char *name)
{
    const char *field;
    size_t n = screen_field(table->view->header, column, &field);

    return n == strlen(name) && !memcmp(field, name, n);
}

/* Nothing is known of it in any row. */
static bool is_unknown(const struct grid *table, unsigned column)
{
    const char *field;

    for (unsigned i = 0; i < table->n; i++)
        if (screen_field(table->rows[i], column, &field) != 1 || *field != '-')
            return false;
    return true;
}

/* What stays on the right, whatever else there is room for: the verdict and its cause. */
static bool is_last(const struct screen *s, const struct grid *table, unsigned column)
{
    return column == table->view->columns || (s->width >= 72 && is_named(table, column, "verdict")) ||
           (s->width >= 100 && is_named(table, column, "by"));
}

/* The first columns, then as many as fit such that `chosen` is among them, then those that stand last. */
static void lay_out(const struct screen *s, const struct grid *table, unsigned prefilter,
                    struct layout *layout)
{
    unsigned columns = table->view->columns < SCREEN_COLUMNS ? table->view->columns : SCREEN_COLUMNS;
    unsigned widths[SCREEN_COLUMNS + 1] = {0}, used = 0, from = FIXED + 1;

    for (unsigned i = 1; i <= columns; i++) {
        bool last = is_last(s, table, i);
        widths[i] =
            i != prefilter && i > FIXED && is_unknown(table, i) && !last ? 0 : 1 + width_of(s, table, i);
        if (last && widths[i] > NAME_MAX_WIDTH)
            widths[i] = NAME_MAX_WIDTH;
        if (i <= FIXED || last)
            used += widths[i];
    }
    for (; from < prefilter; from++) { /* scroll until the chosen one fits */
        unsigned sum = used;
        for (unsigned i = from; i <= prefilter; i++)
            sum += is_last(s, table, i) ? 0 : widths[i];
        if (sum <= s->width)
            break;
    }
    layout->n = 0;
    for (unsigned i = 1; i <= columns; i++) {
        bool between = i > FIXED && !is_last(s, table, i);
        if (!widths[i] || (between && (i < from || used + widths[i] > s->width)))
            continue;
        used += between ? widths[i] : 0;
        if (!is_last(s, table, i))
            add_column(layout, i, widths[i] - 1);
    }
    for (unsigned i = 1; i <= columns; i++)
        if (is_last(s, table, i))
            add_column(layout, i, widths[i] - 1);
}

static bool is_left(const char *text, size_t length)
{
    double value;

    return !(length == 1 && *text == '-') && !decimal_parse(text, length, &value);
}

static bool put_header(struct frame *f, const struct grid *table, const struct layout *layout,
                       bool prefilter_view)
{
    if (!begin_row(f))
        return false;
    for (unsigned i = 0; i < layout->n; i++) {
        const char *name, *cell;
        char marked[48];
        unsigned column = layout->column[i];
        size_t n = screen_field(table->view->header, column, &name);
        bool prefilter = prefilter_view && column == f->s->column,
             sorted = table->view->sorted == (int)column;
        size_t m = table->n ? screen_field(table->rows[0], column, &cell) : 0;
        if (i)
            put(f, " ", 1);
        style(f, prefilter ? "\033[7m" : sorted ? "\033[1;4m" : "\033[1m");
        int k = snprintf(marked, sizeof marked, "%s%.*s",
                         !f->s->colour && !f->plain ? prefilter ? ">"
                                                      : sorted  ? "*"
                                                                : ""
                                                    : "",
                         (int)(n < 40 ? n : 40), name);
        put_cell(f, marked, k > 0 ? (size_t)k : 0, layout->width[i], m && is_left(cell, m));
        style(f, "\033[0m");
    }
    return true;
}

static void put_table(struct frame *f, const struct grid *table, bool prefilter_view)
{
    struct layout layout;

    lay_out(f->s, table, prefilter_view ? f->s->column : 1, &layout);
    if (!put_header(f, table, &layout, prefilter_view))
        return;
    for (unsigned row = 0; row < table->n && begin_row(f); row++)
        for (unsigned i = 0; i < layout.n; i++) {
            const char *cell, *plain;
            char text[HUMAN_TEXT];
            size_t n = cell_of(f->s, table, row, layout.column[i], &cell, text),
                   m = screen_field(table->rows[row], layout.column[i], &plain);
            if (i)
                put(f, " ", 1);
            put_cell(f, cell, n, layout.width[i], is_left(plain, m));
        }
}

/* The line of the window, and what was typed. */
static void put_title(struct frame *f)
{
    const struct screen *s = f->s;
    const char *line = s->now.length ? s->now.bytes : "";
    char typed[64];

    begin_row(f);
    if (s->typing && !f->plain) {
        int n = snprintf(typed, sizeof typed, "rows of each view: %u", s->typed);
        put(f, typed, (size_t)n);
        return;
    }
    if (s->paused && !f->plain) {
        style(f, "\033[7m");
        put(f, "paused", 6);
        style(f, "\033[0m");
        put(f, " ", 1);
    }
    for (size_t n; *line && *line != '\n'; line += n + (line[n] == '\t')) {
        n = strcspn(line, "\t\n");
        put(f, line, n);
        put(f, " ", 1);
    }
}

static void put_help(struct frame *f)
{
    static const char help[] = "q quit  space pause  k rows  arrows choose  s sort  h units";

    f->rows = f->s->height;
    if (f->plain || f->s->height < LEAST_HELPED || !begin_row(f))
        return;
    style(f, "\033[2m");
    put(f, help, sizeof help - 1);
    style(f, "\033[0m");
}

void screen_draw(struct screen *s, bool plain)
{
    struct frame f = {.s = s, .plain = plain, .rows = s->height - (s->height >= LEAST_HELPED)};
    struct grid table;

    s->drawn = clock_ns(CLOCK_MONOTONIC);
    lines_open(&f.lines, STDOUT_FILENO);
    if (!plain)
        lines_text(&f.lines, "\033[H");
    put_title(&f);
    for (unsigned i = 0; i < s->nviews; i++) {
        find_rows(s, &s->views[i], &table);
        if (table.n)
            put_table(&f, &table, i == s->view && !plain);
    }
    put_help(&f);
    lines_text(&f.lines, plain ? "" : "\033[K\033[J\r");
    if (plain)
        lines_end(&f.lines);
    f.lines.complete = f.lines.length;
    lines_flush(&f.lines);
    lines_close(&f.lines);
}
