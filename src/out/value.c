/* SPDX-License-Identifier: GPL-2.0-only */
#include "out/value.h"
#include <errno.h>
#include <math.h>
#include <string.h>
#include "base/escape.h"

static bool is_json(enum out_format format)
{
    return format == OUT_JSON || format == OUT_RECORD;
}

/* After escaping, only quotes and backslashes are left for JSON to mind, and quotes for csv. */
static void put_bytes(struct lines *lines, enum out_format format, const char *bytes, size_t n)
{
    if (!is_json(format) && format != OUT_CSV) {
        lines_add(lines, bytes, n);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        if (format == OUT_CSV && bytes[i] == '"')
            lines_add(lines, "\"", 1);
        else if (is_json(format) && (bytes[i] == '"' || bytes[i] == '\\'))
            lines_add(lines, "\\", 1);
        lines_add(lines, bytes + i, 1);
    }
}

static void put_string(struct lines *lines, enum out_format format, const char *bytes, size_t length)
{
    const char *special = escape_special(bytes, length);

    if (special) {
        put_bytes(lines, format, special, strlen(special));
        return;
    }
    while (length) {
        char step[ESCAPE_MAX];
        size_t written, taken = escape_step(bytes, length, step, &written);
        put_bytes(lines, format, step, written);
        bytes += taken;
        length -= taken;
    }
}

/* Blanks stay as they are: words, and not one name. */
void value_sentence(struct lines *lines, enum out_format format, const char *text)
{
    while (*text) {
        size_t blanks = strspn(text, " "), word = strcspn(text + blanks, " ");
        char step[ESCAPE_MAX];
        lines_spaces(lines, blanks);
        text += blanks;
        while (word) {
            size_t written, taken = escape_step(text, word, step, &written);
            put_bytes(lines, format, step, written);
            text += taken;
            word -= taken;
        }
    }
}

/* What a spreadsheet would take for a formula gets an apostrophe in front. */
static void put_csv(struct lines *lines, enum out_format format, const struct cell *cell)
{
    const char *bytes = cell->s.bytes;
    size_t length = cell->s.length;
    bool formula = length && strchr("=+-@", bytes[0]) && !escape_special(bytes, length);
    const char *quote =
        memchr(bytes, ',', length) || memchr(bytes, '"', length) || cell->kind == CELL_SENTENCE ? "\"" : "";

    lines_text(lines, quote);
    if (formula)
        lines_text(lines, "'");
    if (cell->kind == CELL_SENTENCE)
        value_sentence(lines, format, bytes);
    else
        put_string(lines, format, bytes, length);
    lines_text(lines, quote);
}

/* A recording is to be small: five digits and no zeros that say nothing. */
static bool format_terse(const struct cell *cell, char text[CELL_TEXT])
{
    struct cell less = *cell;
    unsigned room = 5;

    if (cell->kind != CELL_DECIMAL)
        return cell_format(cell, text);
    double rest = fabs(cell->d);
    for (; room && rest >= 1; room--)
        rest /= 10;
    less.digits = less.digits < room ? less.digits : room;
    if (!cell_format(&less, text))
        return false;
    if (strchr(text, '.')) {
        size_t n = strlen(text);
        while (text[n - 1] == '0')
            n--;
        text[n - (text[n - 1] == '.')] = '\0';
    }
    return true;
}

void value_put(struct lines *lines, enum out_format format, const struct cell *cell)
{
    const char *quote = is_json(format) ? "\"" : "";
    char text[CELL_TEXT];

    if (cell->kind == CELL_NONE)
        lines_fail(lines, -EBADMSG);
    if (format == OUT_CSV && (cell->kind == CELL_STRING || cell->kind == CELL_SENTENCE)) {
        put_csv(lines, format, cell);
    } else if (cell->kind == CELL_STRING) {
        lines_text(lines, quote);
        put_string(lines, format, cell->s.bytes, cell->s.length);
        lines_text(lines, quote);
    } else if (cell->kind == CELL_SENTENCE) {
        lines_text(lines, quote);
        value_sentence(lines, format, cell->s.bytes);
        lines_text(lines, quote);
    } else if (!(format == OUT_RECORD ? format_terse : cell_format)(cell, text)) {
        lines_text(lines, is_json(format) ? "null" : format == OUT_CSV ? "" : "-");
    } else if (cell->kind == CELL_TIME) {
        lines_text(lines, quote);
        lines_text(lines, text);
        lines_text(lines, quote);
    } else {
        lines_text(lines, text);
    }
}
