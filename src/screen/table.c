// SPDX-License-Identifier: GPL-2.0-only
/* The rows of a view: chosen, sorted, and drawn. */
#include <stdlib.h>
#include <string.h>
#include "base/decimal.h"
#include "base/glob.h"
#include "out/human.h"
#include "screen/screen_private.h"

#define MOST_WIDTH 60

static bool is_named(const struct screen_column *column, const char *name)
{
    return column->length == strlen(name) && !memcmp(column->name, name, column->length);
}

static unsigned column_named(const struct screen_view *view, const char *name)
{
    for (unsigned i = 1; i <= view->n; i++)
        if (is_named(&view->columns[i - 1], name))
            return i;
    return 0;
}

/* ---- which rows ---- */

static unsigned hex_digit(char c)
{
    return c >= '0' && c <= '9' ? (unsigned)(c - '0') : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 16;
}

/* Names come escaped, and the filter is about what they really are. */
static size_t unescape(const char *bytes, size_t length, char *to, size_t room)
{
    size_t n = 0;

    for (size_t i = 0; i < length && n < room; n++) {
        bool escape = bytes[i] == '\\' && i + 3 < length && bytes[i + 1] == 'x' &&
                      hex_digit(bytes[i + 2]) < 16 && hex_digit(bytes[i + 3]) < 16;
        to[n] = escape ? (char)(16 * hex_digit(bytes[i + 2]) + hex_digit(bytes[i + 3])) : bytes[i];
        i += escape ? 4 : 1;
    }
    return n;
}

/* A row of several names is of a group, which was made of rows that passed. */
static bool name_passes(const struct screen *s, const char *row, unsigned column, bool *some)
{
    const char *field;
    char name[256];
    size_t n = text_field(row, column, &field);

    if (n == 1 && *field == '-')
        return false;
    *some = true;
    n = unescape(field, n, name, sizeof name);
    return glob_matches(s->wish.filter, name, n);
}

static bool row_passes(const struct screen *s, const struct screen_view *view, const char *row)
{
    unsigned comm = column_named(view, "comm"), victim = column_named(view, "victim_comm");
    bool some = false;

    return !*s->wish.filter || (comm && name_passes(s, row, comm, &some)) ||
           (victim && name_passes(s, row, victim, &some)) || !some;
}

/* For qsort(), which has no context. */
static struct {
    unsigned column;
    bool upwards;
} sorting;

/* Numbers from the most down, names from a on; what is not known comes last. */
static int by_column(const void *a, const void *b)
{
    const char *x, *y, *const *left = a, *const *right = b;
    size_t n = text_field(*left, sorting.column, &x), m = text_field(*right, sorting.column, &y);
    double p, q;
    bool first = decimal_parse(x, n, &p), second = decimal_parse(y, m, &q);
    int order = first && second ? (p < q) - (p > q) : second - first;

    if (!first && !second) {
        order = memcmp(x, y, n < m ? n : m);
        order = order ? order : (n > m) - (n < m);
    }
    if (sorting.upwards && first == second)
        order = -order;
    return order ? order : (*left > *right) - (*left < *right);
}

void table_find(const struct screen *s, struct screen_view *view, struct table *table)
{
    size_t name = strlen(view->name);

    table->view = view;
    table->n = 0;
    for (const char *line = s->now.length ? s->now.bytes : NULL, *end;
         line && *line && table->n < SCREEN_ROWS; line = end ? end + 1 : NULL) {
        end = strchr(line, '\n');
        if (!strncmp(line, view->name, name) && line[name] == '\t' && row_passes(s, view, line))
            table->rows[table->n++] = line;
    }
    sorting.column = *view->sort ? column_named(view, view->sort) : 0;
    sorting.upwards = view->upwards;
    if (sorting.column)
        qsort(table->rows, table->n, sizeof *table->rows, by_column);
    if (s->options.top && table->n > s->options.top)
        table->n = s->options.top;
}

static uint64_t mix(uint64_t hash, const char *bytes, size_t n)
{
    for (size_t i = 0; i <= n; i++)
        hash = (hash ^ (unsigned char)(i < n ? bytes[i] : 0)) * 0x100000001b3ull;
    return hash;
}

/* The numbers of its tasks where it has them, all that identifies it where not; and what else it is about. */
uint64_t table_identity(const struct table *table, unsigned row)
{
    const struct screen_view *view = table->view;
    const char *field;
    bool numbered = text_field(table->rows[row], 1, &field) != 1 || *field != '-';
    uint64_t hash = mix(0xcbf29ce484222325ull, view->name, strlen(view->name));

    for (unsigned i = 1; i <= view->n; i++) {
        const struct screen_column *column = &view->columns[i - 1];
        bool task = column->column ? column->column->rule == COLUMN_TASK : column->left;
        bool changes = !column->column || column->left || is_named(column, "uid"); /* by exec, setuid */
        bool other = column->column && column->column->rule == COLUMN_DIM;
        if (other || (task && !(numbered && changes))) {
            size_t n = text_field(table->rows[row], i, &field);
            hash = mix(hash, field, n);
        }
    }
    return hash ? hash : 1;
}

/* ---- drawing ---- */

struct text_field table_cell(const struct screen *s, const struct screen_column *column,
                             struct text_field field, char *text)
{
    double value;

    if (!s->options.human || !column->column || !decimal_parse(field.bytes, field.length, &value) ||
        !human_format(column->column->unit, value, text))
        return field;
    return (struct text_field){text, strlen(text)};
}

static void widen_column(const struct screen *s, struct screen_column *column, struct text_field field)
{
    char text[HUMAN_TEXT];
    double value;

    if (field.length == 1 && *field.bytes == '-')
        return;
    if (!column->column)
        column->left = !decimal_parse(field.bytes, field.length, &value);
    const struct text_field cell = table_cell(s, column, field, text);
    unsigned used = text_characters(cell.bytes, cell.length);
    used = used < MOST_WIDTH ? used : MOST_WIDTH;
    column->known = true;
    column->width = used > column->width ? (unsigned char)used : column->width;
}

/* Widths only grow, so that columns stand still. */
static void widen(const struct screen *s, const struct table *table, unsigned from, unsigned to)
{
    struct text_field fields[SCREEN_COLUMNS + 1];

    for (unsigned row = from; row < to; row++) {
        unsigned n = text_fields(table->rows[row], table->view->n + 1, fields);
        for (unsigned i = 1; i < n; i++)
            widen_column(s, &table->view->columns[i - 1], fields[i]);
    }
}

static void put_header(struct screen *s, const struct table *table, const struct layout *layout,
                       bool chosen_view)
{
    struct frame *f = &s->frame;

    frame_blanks(f, s->gutter);
    for (unsigned i = 0; i < layout->n; i++) {
        const struct screen_column *column = &table->view->columns[layout->column[i] - 1];
        bool chosen = chosen_view && layout->column[i] == s->column,
             sorted = column_named(table->view, table->view->sort) == layout->column[i];
        frame_blanks(f, i != 0);
        frame_style(f, chosen ? STYLE_REVERSE : sorted ? STYLE_UNDERLINED : STYLE_BOLD);
        if (!f->colour && !f->plain && (chosen || sorted) && column->length < layout->width[i]) {
            char marked[1 + UINT8_MAX];
            marked[0] = chosen ? '>' : '*';
            memcpy(marked + 1, column->name, column->length);
            frame_cell(f, marked, column->length + 1u, layout->width[i], column->left);
        } else {
            frame_cell(f, column->name, column->length, layout->width[i], column->left);
        }
        frame_style(f, STYLE_NONE);
    }
}

static void put_row(struct screen *s, const struct table *table, const struct layout *layout, unsigned row,
                    bool marked)
{
    struct text_field fields[SCREEN_COLUMNS + 1];
    struct frame *f = &s->frame;
    unsigned n = text_fields(table->rows[row], table->view->n + 1, fields);

    for (unsigned i = 0; i < layout->n && layout->column[i] < n; i++) {
        char text[HUMAN_TEXT];
        const struct screen_column *column = &table->view->columns[layout->column[i] - 1];
        const struct text_field cell = table_cell(s, column, fields[layout->column[i]], text);
        frame_blanks(f, i != 0);
        if (column->left && i + 1 == layout->n && !marked)
            frame_put(f, cell.bytes, cell.length);
        else
            frame_cell(f, cell.bytes, cell.length, layout->width[i], column->left);
    }
}

/* Where the selected row is; n: it is not there. */
static unsigned find_selected(const struct screen *s, const struct table *table)
{
    unsigned row = 0;

    while (row < table->n && (!s->selected || table_identity(table, row) != s->selected))
        row++;
    return row;
}

/* A key selected a row: it is among those shown. It may leave them with later windows. */
static unsigned first_row(struct screen_view *view, unsigned selected, unsigned n, unsigned height)
{
    if (selected < n && selected < view->from)
        view->from = selected;
    if (selected < n && selected >= view->from + height)
        view->from = selected - height + 1;
    if (view->from + height > n)
        view->from = n > height ? n - height : 0;
    return view->from;
}

void table_draw(struct screen *s, struct table *table, unsigned height, unsigned kept)
{
    struct layout layout;
    struct frame *f = &s->frame;
    bool chosen = table->view == &s->views[s->view] && !f->plain;
    unsigned selected = chosen ? find_selected(s, table) : table->n, rows = height ? height - 1 : 0;

    if (!height || !frame_row(f, kept))
        return;
    unsigned first = first_row(table->view, s->moved ? selected : table->n, table->n, rows);
    unsigned end = table->n - first < rows ? table->n : first + rows;
    widen(s, table, first, end);
    layout_fit(s, table->view, &layout);
    put_header(s, table, &layout, chosen);
    for (unsigned row = first; row < end && frame_row(f, kept); row++) {
        if (row == selected)
            frame_style(f, STYLE_REVERSE);
        if (s->gutter)
            frame_text(f, row == selected ? ">" : " ");
        put_row(s, table, &layout, row, row == selected);
        if (row == selected)
            frame_style(f, STYLE_NONE);
    }
    if (chosen) {
        s->layout = layout;
        s->height_of_rows = rows;
        s->at = selected < table->n ? selected : s->at;
    }
}
