// SPDX-License-Identifier: GPL-2.0-only
#include "out/prom.h"
#include <stdio.h>
#include <string.h>
#include "out/cell.h"
#include "base/escape.h"

/* The comm of what is not among the rows. A process of that name is escaped. */
static const char other_name[] = "_other";

/* A name that ends in the unit gets Prometheus's in its place. */
double prom_name(const char *schema, const char *column, enum column_unit unit, char name[PROM_NAME])
{
    static const struct {
        const char *name;
        double scale;
    } units[UNITS] = {
        [UNIT_COUNT] = {"_events", 1},  [UNIT_PER_S] = {"_per_second", 1},
        [UNIT_US] = {"_seconds", 1e-6}, [UNIT_MS] = {"_seconds", 1e-3},
        [UNIT_S] = {"_seconds", 1},     [UNIT_PCT] = {"_ratio", 1e-2},
        [UNIT_KIB] = {"_bytes", 1024},  [UNIT_KIB_PER_S] = {"_bytes_per_second", 1024},
    };
    const char *suffix = unit_suffix(unit);
    size_t length, n = suffix ? strlen(suffix) : 0;

    snprintf(name, PROM_NAME - 24, "hog_%s_%s", schema, column);
    length = strlen(name);
    if (!n)
        return 1;
    if (!strcmp(name + length - n, suffix) && name[length - n - 1] == '_')
        length -= n + 1;
    else if (unit == UNIT_COUNT)
        return 1;
    snprintf(name + length, PROM_NAME - length, "%s", units[unit].name);
    return units[unit].scale;
}

static bool is_text(const struct cell *cell)
{
    return cell->kind == CELL_STRING || cell->kind == CELL_SENTENCE;
}

/* Escaped as everywhere, then for a label: of what that needs only quotes and backslashes are left. */
static void put_text(struct lines *lines, const struct cell *cell)
{
    size_t left = cell->s.length;
    const char *bytes = cell->s.bytes, *special = escape_special(bytes, left);

    if (left == sizeof other_name - 1 && !memcmp(bytes, other_name, left))
        special = "\\x5fother";
    if (special) {
        bytes = special;
        left = strlen(special);
    }
    while (left) {
        char step[ESCAPE_MAX];
        size_t written = 1, taken = 1;
        bool as_it_is = special || (*bytes == ' ' && cell->kind == CELL_SENTENCE);
        if (as_it_is)
            step[0] = *bytes;
        else
            taken = escape_step(bytes, left, step, &written);
        for (size_t i = 0; i < written; i++) {
            if (step[i] == '"' || step[i] == '\\')
                lines_text(lines, "\\");
            lines_add(lines, &step[i], 1);
        }
        bytes += taken;
        left -= taken;
    }
}

static void put_label(struct lines *lines, const char *name, const struct cell *cell, bool *any)
{
    char text[CELL_TEXT];

    if (cell->kind == CELL_UNKNOWN || (!is_text(cell) && !cell_format(cell, text)))
        return;
    lines_text(lines, *any ? "," : "{");
    *any = true;
    lines_text(lines, name);
    lines_text(lines, "=\"");
    if (is_text(cell))
        put_text(lines, cell);
    else
        lines_text(lines, text);
    lines_text(lines, "\"");
}

static bool is_label(const struct column *column)
{
    return column->rule == COLUMN_TASK || column->rule == COLUMN_DIM;
}

/* What a row is of; info: and the other texts in it. */
static void put_labels(struct lines *lines, const struct schema *schema, const struct cell *cells, bool other,
                       bool info)
{
    const struct cell name = cell_string(other_name);
    bool any = false;

    for (size_t i = 0; i < schema->ncolumns; i++) {
        const struct column *column = &schema->columns[i];
        if (other && column->rule == COLUMN_TASK)
            continue;
        if (is_label(column) || (info && is_text(&cells[i])))
            put_label(lines, column->name, &cells[i], &any);
    }
    if (other) {
        lines_text(lines, any ? ",comm=\"" : "{comm=\"");
        lines_text(lines, name.s.bytes);
        lines_text(lines, "\"");
        any = true;
    }
    if (any)
        lines_text(lines, "}");
}

static bool put_number(struct lines *lines, const struct cell *cell, double scale)
{
    char text[CELL_TEXT];
    struct cell scaled = *cell;
    unsigned more = scale == 1e-6 ? 6 : scale == 1e-3 ? 3 : scale == 1e-2 ? 2 : 0;

    if (cell->kind == CELL_TIME)
        scaled = cell_decimal((double)cell->u / 1e9, 3);
    else if (cell->kind == CELL_DECIMAL)
        scaled = cell_decimal(cell->d * scale, cell->digits + more);
    else if (scale > 1 && cell->kind == CELL_UNSIGNED)
        scaled.u *= (uint64_t)scale;
    else if (scale > 1 && cell->kind == CELL_SIGNED)
        scaled.i *= (int64_t)scale;
    else if (scale < 1)
        scaled = cell_decimal((cell->kind == CELL_SIGNED ? (double)cell->i : (double)cell->u) * scale, more);
    if (!cell_format(&scaled, text))
        return false;
    lines_text(lines, " ");
    lines_text(lines, text);
    lines_end(lines);
    return true;
}

static void put_head(struct lines *lines, const char *view, const char *what, const char *of,
                     const char *name)
{
    const char *const words[] = {"# HELP ", view, " ", what, of, name, ", see hog(8)"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        lines_text(lines, words[i]);
    lines_end(lines);
    lines_text(lines, "# TYPE ");
    lines_text(lines, view);
    lines_text(lines, " gauge");
    lines_end(lines);
}

static bool is_number(const struct cell *cell)
{
    return cell->kind != CELL_UNKNOWN && !is_text(cell);
}

static void put_column(struct lines *lines, const struct schema *schema, size_t i,
                       const struct cell *const *rows, size_t n, size_t others)
{
    const struct column *column = &schema->columns[i];
    char view[PROM_NAME];
    double scale = prom_name(schema->name, column->name, column->unit, view);
    bool headed = false;

    for (size_t j = 0; j < n + (column_adds_up(column) ? others : 0); j++) {
        if (!is_number(&rows[j][i]))
            continue;
        if (!headed)
            put_head(lines, view, column->name, " of hog ", schema->name);
        headed = true;
        lines_text(lines, view);
        put_labels(lines, schema, rows[j], j >= n, false);
        put_number(lines, &rows[j][i], scale);
    }
}

static void put_info(struct lines *lines, const struct schema *schema, const struct cell *const *rows,
                     size_t n)
{
    char view[PROM_NAME];
    bool texts = false;

    for (size_t i = 0; i < schema->ncolumns; i++)
        for (size_t j = 0; j < n; j++)
            texts = texts || (!is_label(&schema->columns[i]) && is_text(&rows[j][i]));
    if (!texts)
        return;
    snprintf(view, sizeof view, "hog_%s_info", schema->name);
    put_head(lines, view, "texts", " of hog ", schema->name);
    for (size_t j = 0; j < n; j++) {
        lines_text(lines, view);
        put_labels(lines, schema, rows[j], false, true);
        lines_text(lines, " 1");
        lines_end(lines);
    }
}

void prom_table(struct lines *lines, const struct schema *schema, const struct cell *const *rows, size_t n,
                size_t others)
{
    for (size_t i = 0; i < schema->ncolumns; i++)
        if (!is_label(&schema->columns[i]))
            put_column(lines, schema, i, rows, n, others);
    put_info(lines, schema, rows, n);
}

/* Only notes that occur once in a window. */
void prom_note(struct lines *lines, const char *name, const struct field *fields, size_t n)
{
    char view[PROM_NAME];

    static const char *const once[] = {"window", "totals", "psi", "self"};
    bool known = false;

    for (size_t i = 0; i < sizeof once / sizeof *once; i++)
        known = known || !strcmp(name, once[i]);
    if (!known)
        return;
    for (size_t i = 0; i < n; i++) {
        bool start = fields[i].cell.kind == CELL_TIME;
        if (!is_number(&fields[i].cell))
            continue;
        const char *field = start ? "start_timestamp_s" : fields[i].name;
        double scale = prom_name(name, field, unit_of_field(field), view);
        put_head(lines, view, fields[i].name, " of hog's line #", name);
        lines_text(lines, view);
        put_number(lines, &fields[i].cell, scale);
    }
}

void prom_end(struct lines *lines)
{
    lines_text(lines, "# EOF");
    lines_end(lines);
}
