// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>
#include "base/escape.h"
#include "rows/rows.h"
#include "screen/screen_private.h"

/* Keys that are more than a byte. */
enum key {
    KEY_UP = 256,
    KEY_DOWN,
    KEY_LEFT,
    KEY_RIGHT,
    KEY_PAGE_UP,
    KEY_PAGE_DOWN,
    KEY_HOME,
    KEY_END,
    KEY_BACK_TAB,
    KEY_OTHER
};

/* How many bytes it took. */
static size_t read_key(const char *keys, size_t n, int *key)
{
    static const struct {
        char text[4];
        enum key key;
    } known[] = {{"A", KEY_UP},   {"B", KEY_DOWN},     {"C", KEY_RIGHT},      {"D", KEY_LEFT},
                 {"H", KEY_HOME}, {"F", KEY_END},      {"Z", KEY_BACK_TAB},   {"1~", KEY_HOME},
                 {"4~", KEY_END}, {"5~", KEY_PAGE_UP}, {"6~", KEY_PAGE_DOWN}, {"7~", KEY_HOME},
                 {"8~", KEY_END}};

    *key = (unsigned char)keys[0];
    if (*key != 27 || n < 3 || (keys[1] != '[' && keys[1] != 'O'))
        return 1;
    size_t end = 2;
    while (end < n && (unsigned char)keys[end] < 0x40) /* parameters */
        end++;
    end += end < n;
    *key = KEY_OTHER;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i].text) == end - 2 && !memcmp(known[i].text, keys + 2, end - 2))
            *key = known[i].key;
    return end;
}

/* ---- rows and columns ---- */

static void find_focused(struct screen *s, struct table *table)
{
    table->n = 0;
    if (s->view < s->nviews)
        table_find(s, &s->views[s->view], table);
}

static void select_row(struct screen *s, const struct table *table, unsigned row)
{
    s->selected = table_identity(table, row);
    s->at = row;
    s->moved = true;
}

/* Where the selected row is, or was. */
static unsigned selected_at(const struct screen *s, const struct table *table)
{
    for (unsigned row = 0; row < table->n; row++)
        if (table_identity(table, row) == s->selected)
            return row;
    return s->at < table->n ? s->at : table->n - 1;
}

/* Past the end of a view is the next one that has rows. */
static bool enter_view(struct screen *s, int step, struct table *table)
{
    for (unsigned view = s->view + (unsigned)step; view < s->nviews; view += (unsigned)step) {
        table_find(s, &s->views[view], table);
        if (!table->n)
            continue;
        s->view = view;
        s->column = 0;
        select_row(s, table, step > 0 ? 0 : table->n - 1);
        return true;
    }
    return false;
}

static void move_selected(struct screen *s, int by)
{
    struct table table;

    find_focused(s, &table);
    if (!table.n) {
        enter_view(s, 1, &table);
        return;
    }
    unsigned was = selected_at(s, &table), from = s->views[s->view].from;
    bool line = by == 1 || by == -1, shown = s->selected && was >= from && was < from + s->height_of_rows;
    if (line && !shown) {
        select_row(s, &table, from < table.n ? from : 0);
        return;
    }
    int at = (int)(shown ? was : from) + by;
    if (line && (at < 0 || at >= (int)table.n)) {
        if (enter_view(s, by, &table))
            return;
        find_focused(s, &table);
    }
    at = at < 0 ? 0 : at >= (int)table.n ? (int)table.n - 1 : at;
    select_row(s, &table, (unsigned)at);
}

static void scroll_by(struct screen *s, int by)
{
    s->scroll = by < 0 && s->scroll < (unsigned)-by ? 0 : s->scroll + (unsigned)by;
}

static void move_by(struct screen *s, int by)
{
    if (s->page == PAGE_TABLE)
        move_selected(s, by);
    else
        scroll_by(s, by);
}

/* The columns that are shown; with w, all that have values. */
static void choose_column(struct screen *s, int step)
{
    const struct layout *layout = &s->layout;
    unsigned n = s->view < s->nviews ? s->views[s->view].n : 0, i = 0;

    if (s->wide) {
        unsigned column = s->column + (unsigned)step;
        while (column >= 1 && column <= n && !s->views[s->view].columns[column - 1].known)
            column += (unsigned)step;
        s->column = column >= 1 && column <= n ? column : s->column;
        return;
    }
    while (i < layout->n && layout->column[i] != s->column)
        i++;
    if (i == layout->n)
        s->column = layout->n ? layout->column[0] : 0;
    else if (i + (unsigned)step < layout->n)
        s->column = layout->column[i + (unsigned)step];
}

/* The largest first; the smallest; as the view has it. */
static void sort_by_chosen(struct screen *s)
{
    struct screen_view *view = &s->views[s->view];
    char name[SCREEN_WORD];

    if (s->view >= s->nviews || !s->column || s->column > view->n)
        return;
    const struct screen_column *column = &view->columns[s->column - 1];
    snprintf(name, sizeof name, "%.*s", (int)column->length, column->name);
    if (strcmp(view->sort, name) != 0) {
        memcpy(view->sort, name, sizeof name);
        view->upwards = false;
    } else if (!view->upwards) {
        view->upwards = true;
    } else {
        *view->sort = '\0';
    }
    if (s->nviews != 1)
        return;
    memcpy(s->wish.sort, view->sort, sizeof s->wish.sort);
    s->wish.reverse = *view->sort && view->upwards;
}

/* ---- what is typed ---- */

static void filter_changed(struct screen *s)
{
    struct screen_filter *f = &s->filter;
    size_t length = 0;

    f->bytes[f->n] = '\0';
    bool glob = strpbrk(f->bytes, "*?[") != NULL;
    snprintf(s->wish.filter, sizeof s->wish.filter, glob || !f->n ? "%s" : "*%s*", f->bytes);
    for (size_t at = 0; at < f->n && length + ESCAPE_MAX < sizeof f->shown;) {
        size_t n;
        at += escape_step(f->bytes + at, f->n - at, f->shown + length, &n);
        length += n;
    }
    f->shown[length] = '\0';
}

static void type_filter(struct screen *s, int key)
{
    struct screen_filter *f = &s->filter;

    if (key == 27) {
        f->n = 0;
        s->filtering = false;
    } else if (key == '\n' || key == '\r') {
        s->filtering = false;
    } else if (key == 127 || key == 8) {
        while (f->n && (f->bytes[--f->n] & 0xc0) == 0x80)
            ;
    } else if (key >= ' ' && key < 256 && f->n < sizeof f->bytes - 1) {
        f->bytes[f->n++] = (char)key;
    }
    filter_changed(s);
}

static void type_rows(struct screen *s, int key)
{
    if (key >= '0' && key <= '9') {
        s->typed = (s->typed * 10 + (unsigned)(key - '0')) % 10000;
        return;
    }
    s->typing = false;
    if (key == '\n' || key == '\r')
        s->options.top = s->typed < SCREEN_ROWS ? s->typed : SCREEN_ROWS;
}

/* ---- what only the run can do ---- */

static void next_group(struct screen *s)
{
    static const uint32_t groups[] = {0, ROWS_COMM, ROWS_CGROUP, ROWS_CONTAINER, ROWS_USER};
    size_t n = sizeof groups / sizeof *groups, i = 0;

    while (i < n && groups[i] != s->wish.by)
        i++;
    s->wish.by = groups[i < n ? (i + 1) % n : 0];
    s->selected = 0;
}

/* ---- */

static uint32_t number_of(const char *field, size_t n)
{
    uint32_t number = 0;

    for (size_t i = 0; i < n; i++) {
        if (field[i] < '0' || field[i] > '9' || number > UINT32_MAX / 10 - 1)
            return 0;
        number = number * 10 + (uint32_t)(field[i] - '0');
    }
    return number;
}

static void show_detail(struct screen *s)
{
    struct table table;
    const char *field;

    find_focused(s, &table);
    if (!table.n)
        return;
    select_row(s, &table, s->selected ? selected_at(s, &table) : 0);
    size_t n = text_field(table.rows[s->at], 1, &field);
    bool numbered = table.view->n && table.view->columns[0].column &&
                    table.view->columns[0].column->rule == COLUMN_TASK && !table.view->columns[0].left;
    s->wish.pid = numbered ? number_of(field, n) : 0;
    s->told.length = s->detail.length = 0;
    s->page = PAGE_DETAIL;
    s->scroll = 0;
}

static void go_back(struct screen *s)
{
    if (s->page != PAGE_TABLE) {
        s->page = PAGE_TABLE;
        s->wish.pid = 0;
    } else if (s->filter.n) {
        s->filter.n = 0;
        filter_changed(s);
    } else {
        s->selected = 0;
        s->column = 0;
        if (s->view < s->nviews)
            s->views[s->view].from = 0;
    }
}

static void take_special(struct screen *s, int key)
{
    int height = s->height_of_rows > 1 ? (int)s->height_of_rows - 1 : 1;

    switch (key) {
    case KEY_UP:
    case KEY_DOWN:
        move_by(s, key == KEY_UP ? -1 : 1);
        break;
    case KEY_PAGE_UP:
    case KEY_PAGE_DOWN:
        move_by(s, key == KEY_PAGE_UP ? -height : height);
        break;
    case KEY_HOME:
    case KEY_END:
        move_by(s, key == KEY_HOME ? -SCREEN_ROWS : SCREEN_ROWS);
        break;
    case KEY_LEFT:
    case KEY_RIGHT:
        choose_column(s, key == KEY_LEFT ? -1 : 1);
        break;
    case KEY_BACK_TAB:
        s->wish.page--;
        break;
    default:
        break;
    }
}

static void take_letter(struct screen *s, int key)
{
    switch (key) {
    case ' ':
        s->paused = !s->paused;
        break;
    case '/':
        s->filtering = true;
        break;
    case '?':
        s->page = s->page == PAGE_HELP ? PAGE_TABLE : PAGE_HELP;
        s->wish.pid = s->scroll = 0;
        break;
    case 27:
        go_back(s);
        break;
    case '\n':
    case '\r':
        if (s->page == PAGE_TABLE)
            show_detail(s);
        else
            go_back(s);
        break;
    case '\t':
        s->wish.page++;
        break;
    case 'g':
        next_group(s);
        break;
    case 'h':
        s->options.human = !s->options.human;
        break;
    case 'k':
        s->typing = true;
        s->typed = 0;
        break;
    case 's':
        sort_by_chosen(s);
        break;
    case 't':
        s->wish.threads = !s->wish.threads;
        break;
    case 'w':
        s->wide = !s->wide;
        break;
    default:
        break;
    }
}

bool keys_take(struct screen *s, const char *keys, size_t n)
{
    int key;

    s->notice = s->noticed;
    for (size_t taken; n; keys += taken, n -= taken) {
        taken = read_key(keys, n, &key);
        if (s->filtering && key < 256)
            type_filter(s, key);
        else if (s->typing && key < 256)
            type_rows(s, key);
        else if (key == 'q' || key == 4) /* Ctrl-D */
            return true;
        else if (key >= 256)
            take_special(s, key);
        else
            take_letter(s, key);
    }
    return false;
}
