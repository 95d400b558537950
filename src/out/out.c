/* SPDX-License-Identifier: GPL-2.0-only */
/* The formats. Text and tsv have the same lines and differ in what separates the fields. */
#include "out/out.h"
#include "out/cell.h"
#include "out/escape.h"
#include "out/lines.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAX_HEADED 64

struct out {
    struct lines lines;
    enum out_format format;
    bool header;
    struct cell seq; /* of the last window */
    const struct view *headed[MAX_HEADED];
    size_t nheaded;
    size_t pending; /* text: spaces owed to a left-aligned cell, paid only when another cell follows */
};

struct out *out_open(int fd, enum out_format format, bool header)
{
    struct out *out = calloc(1, sizeof *out);
    if (!out)
        return NULL;
    lines_open(&out->lines, fd);
    out->format = format;
    out->header = header && format != OUT_JSON;
    return out;
}

void out_close(struct out *out)
{
    if (!out)
        return;
    lines_flush(&out->lines);
    lines_close(&out->lines);
    free(out);
}

int out_flush(struct out *out)
{
    return out ? lines_flush(&out->lines) : -ENOMEM;
}

/* After escaping, only quotes and backslashes are left for JSON to mind. */
static void put_bytes(struct out *out, const char *bytes, size_t n)
{
    if (out->format != OUT_JSON) {
        lines_add(&out->lines, bytes, n);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] == '"' || bytes[i] == '\\')
            lines_add(&out->lines, "\\", 1);
        lines_add(&out->lines, bytes + i, 1);
    }
}

static void put_string(struct out *out, const char *bytes, size_t length)
{
    const char *special = escape_special(bytes, length);

    if (special) {
        put_bytes(out, special, strlen(special));
        return;
    }
    while (length) {
        char step[ESCAPE_MAX];
        size_t written, taken = escape_step(bytes, length, step, &written);
        put_bytes(out, step, written);
        bytes += taken;
        length -= taken;
    }
}

/* Blanks stay as they are: words, and not one name. */
static void put_sentence(struct out *out, const char *text)
{
    while (*text) {
        size_t blanks = strspn(text, " "), word = strcspn(text + blanks, " ");
        char step[ESCAPE_MAX];
        lines_spaces(&out->lines, blanks);
        text += blanks;
        while (word) {
            size_t written, taken = escape_step(text, word, step, &written);
            put_bytes(out, step, written);
            text += taken;
            word -= taken;
        }
    }
}

void out_line(struct out *out, const char *text)
{
    if (!out)
        return;
    put_sentence(out, text);
    lines_end(&out->lines);
}

static void put_value(struct out *out, const struct cell *cell)
{
    const char *quote = out->format == OUT_JSON ? "\"" : "";
    char text[CELL_TEXT];

    if (cell->kind == CELL_STRING) {
        lines_text(&out->lines, quote);
        put_string(out, cell->s.bytes, cell->s.length);
        lines_text(&out->lines, quote);
    } else if (cell->kind == CELL_SENTENCE) {
        lines_text(&out->lines, quote);
        put_sentence(out, cell->s.bytes);
        lines_text(&out->lines, quote);
    } else if (!cell_format(cell, text)) {
        lines_text(&out->lines, out->format == OUT_JSON ? "null" : "-");
    } else if (cell->kind == CELL_TIME) {
        lines_text(&out->lines, quote);
        lines_text(&out->lines, text);
        lines_text(&out->lines, quote);
    } else {
        lines_text(&out->lines, text);
    }
}

static void put_member(struct out *out, const char *name, const struct cell *cell)
{
    lines_text(&out->lines, ",\"");
    lines_text(&out->lines, name);
    lines_text(&out->lines, "\":");
    put_value(out, cell);
}

static void put_type(struct out *out, const char *type)
{
    lines_text(&out->lines, "{\"type\":\"");
    lines_text(&out->lines, type);
    lines_text(&out->lines, "\"");
}

static void finish_object(struct out *out)
{
    lines_text(&out->lines, "}");
    lines_end(&out->lines);
}

static void note_json(struct out *out, const char *name, const struct field *fields, size_t n)
{
    put_type(out, name);
    for (size_t i = 0; i < n; i++)
        put_member(out, fields[i].name, &fields[i].cell);
    finish_object(out);
}

static void note_text(struct out *out, const char *name, const struct field *fields, size_t n)
{
    lines_text(&out->lines, "#");
    lines_text(&out->lines, name);
    for (size_t i = 0; i < n; i++) {
        lines_text(&out->lines, out->format == OUT_TSV ? "\t" : " ");
        lines_text(&out->lines, fields[i].name);
        lines_text(&out->lines, "=");
        put_value(out, &fields[i].cell);
    }
    lines_end(&out->lines);
}

static void remember_seq(struct out *out, const char *name, const struct field *fields, size_t n)
{
    if (strcmp(name, "window"))
        return;
    out->seq = cell_unknown();
    for (size_t i = 0; i < n; i++)
        if (!strcmp(fields[i].name, "seq") && fields[i].cell.kind == CELL_UNSIGNED)
            out->seq = fields[i].cell;
}

void out_note(struct out *out, const char *name, const struct field *fields, size_t n)
{
    if (!out)
        return;
    remember_seq(out, name, fields, n);
    if (out->format == OUT_JSON)
        note_json(out, name, fields, n);
    else
        note_text(out, name, fields, n);
}

/* Characters, not bytes: a name may hold valid UTF-8. */
static size_t columns_since(const struct lines *lines, size_t from)
{
    size_t n = 0;
    for (; from < lines->length; from++)
        n += (lines->bytes[from] & 0xc0) != 0x80;
    return n;
}

/* What was added since `from` is a cell: bring it to its width. */
static void align(struct out *out, size_t from, size_t width, bool left)
{
    size_t used = columns_since(&out->lines, from);
    size_t missing = used < width ? width - used : 0;

    if (left)
        out->pending = missing;
    else
        lines_indent(&out->lines, from, missing);
}

static void separate(struct out *out)
{
    if (out->format == OUT_TSV)
        lines_text(&out->lines, "\t");
    else
        lines_spaces(&out->lines, 1 + out->pending);
    out->pending = 0;
}

/* The header line (cells == NULL) or a row: both are aligned alike. */
static void put_line(struct out *out, const struct view *view, const struct cell *cells)
{
    size_t start = out->lines.length;

    out->pending = 0;
    if (!cells)
        lines_text(&out->lines, "#");
    lines_text(&out->lines, view->name);
    if (out->format == OUT_TEXT)
        align(out, start, strlen(view->name) + out->header, true);
    for (size_t i = 0; i < view->ncolumns; i++) {
        const struct column *column = &view->columns[i];
        size_t least = (size_t)abs(column->width), name = strlen(column->name);
        separate(out);
        start = out->lines.length;
        if (cells)
            put_value(out, &cells[i]);
        else
            lines_text(&out->lines, column->name);
        if (out->format == OUT_TEXT)
            align(out, start, least > name ? least : name, column->width < 0);
    }
    lines_end(&out->lines);
}

static void header_once(struct out *out, const struct view *view)
{
    for (size_t i = 0; i < out->nheaded; i++)
        if (out->headed[i] == view)
            return;
    if (out->nheaded == MAX_HEADED) {
        lines_fail(&out->lines, -E2BIG);
        return;
    }
    out->headed[out->nheaded++] = view;
    put_line(out, view, NULL);
}

static void row_json(struct out *out, const struct view *view, const struct cell *cells)
{
    struct cell name = cell_string(view->name);

    put_type(out, "row");
    put_member(out, "view", &name);
    put_member(out, "seq", &out->seq);
    for (size_t i = 0; i < view->ncolumns; i++)
        put_member(out, view->columns[i].name, &cells[i]);
    finish_object(out);
}

void out_row(struct out *out, const struct view *view, const struct cell *cells)
{
    if (!out)
        return;
    if (out->format == OUT_JSON) {
        row_json(out, view, cells);
        return;
    }
    if (out->header)
        header_once(out, view);
    put_line(out, view, cells);
}

void out_row_of(struct out *out, const struct view *view, const struct cell *cells,
                const struct row_keys *keys)
{
    (void)keys;
    out_row(out, view, cells);
}
