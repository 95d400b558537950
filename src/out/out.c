/* SPDX-License-Identifier: GPL-2.0-only */
/* The formats. Text and tsv have the same lines and differ in what separates the fields. */
#include "out/out.h"
#include "out/cell.h"
#include "out/human.h"
#include "out/lines.h"
#include "out/prom.h"
#include "out/textfile.h"
#include "out/value.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_HEADED 64

/* What `out` knows of the rows of a view. */
struct headed {
    const struct schema *schema;
    bool named;                      /* the line of its columns is written */
    unsigned rank;                   /* of its last row in this window */
    uint8_t columns[CHOICE_COLUMNS]; /* that lines have, by number */
    size_t ncolumns;
};

/* Notes that a recording has as lists. */
static const char *const tables[] = {"window", "totals", "psi"};
#define TABLES (sizeof tables / sizeof *tables)

struct out {
    struct lines lines;
    enum out_format format;
    bool header, people;
    struct cell seq, start, length, lost; /* of the last window */
    out_row_fn layer;
    void *context;
    struct textfile file;
    const char *path; /* NULL: no such file */
    struct column_choice choice;
    struct headed headed[MAX_HEADED];
    size_t nheaded;
    uint64_t note_names[TABLES]; /* recording: a hash of the names of the last one's fields */
    size_t pending; /* text: spaces owed to a left-aligned cell, paid only when another cell follows */
};

struct out *out_open(int fd, enum out_format format, bool header)
{
    struct out *out = calloc(1, sizeof *out);
    if (!out)
        return NULL;
    lines_open(&out->lines, fd);
    out->format = format;
    out->header = header && format != OUT_JSON && format != OUT_PROM;
    out->choice.wide = true;
    out->seq = out->start = out->length = out->lost = cell_unknown();
    return out;
}

void out_choose(struct out *out, const struct column_choice *choice)
{
    out->choice = *choice;
    out->choice.wide = choice->wide || out->format != OUT_TEXT;
}

void out_to_sink(struct out *out, struct lines_sink *sink)
{
    out->lines.sink = sink;
}

void out_for_people(struct out *out)
{
    out->people = true;
}

void out_anew(struct out *out)
{
    out->nheaded = 0;
    memset(out->note_names, 0, sizeof out->note_names);
}

void out_close(struct out *out)
{
    if (!out)
        return;
    if (!out->path)
        lines_flush(&out->lines);
    lines_close(&out->lines);
    free(out);
}

int out_flush(struct out *out)
{
    if (!out)
        return -ENOMEM;
    return out->path ? out->lines.error : lines_flush(&out->lines);
}

int out_to_file(struct out *out, const char *path)
{
    int fd = textfile_begin(&out->file, path);

    if (fd < 0)
        return fd;
    textfile_end(&out->file, fd, -ECANCELED);
    out->path = path;
    return 0;
}

void out_begin_window(struct out *out)
{
    if (!out->path || out->lines.error)
        return;
    int fd = textfile_begin(&out->file, out->path);
    lines_close(&out->lines);
    lines_open(&out->lines, fd);
    if (fd < 0)
        lines_fail(&out->lines, fd);
}

void out_end_window(struct out *out)
{
    if (out->format == OUT_PROM)
        prom_end(&out->lines);
    if (!out->path || out->lines.fd < 0)
        return;
    int err = textfile_end(&out->file, out->lines.fd, lines_flush(&out->lines));
    out->lines.fd = -1;
    if (err)
        lines_fail(&out->lines, err);
}

void out_line(struct out *out, const char *text)
{
    if (!out)
        return;
    value_sentence(&out->lines, out->format, text);
    lines_end(&out->lines);
}

static void put_member(struct out *out, const char *name, const struct cell *cell)
{
    lines_text(&out->lines, ",\"");
    lines_text(&out->lines, name);
    lines_text(&out->lines, "\":");
    value_put(&out->lines, out->format, cell);
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
        value_put(&out->lines, out->format, &fields[i].cell);
    }
    lines_end(&out->lines);
}

static struct cell field_named(const char *name, enum cell_kind kind, const struct field *fields, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(fields[i].name, name) && fields[i].cell.kind == kind)
            return fields[i].cell;
    return cell_unknown();
}

static void remember_window(struct out *out, const char *name, const struct field *fields, size_t n)
{
    if (strcmp(name, "window") != 0)
        return;
    out->seq = field_named("seq", CELL_UNSIGNED, fields, n);
    out->start = field_named("start", CELL_TIME, fields, n);
    out->length = field_named("dur_ms", CELL_DECIMAL, fields, n);
    out->lost = field_named("lost", CELL_UNSIGNED, fields, n);
    for (size_t i = 0; i < out->nheaded; i++)
        out->headed[i].rank = 0;
}

/* {"view":"top","columns":[: names follow by record_name(), and "]}" */
static void record_columns(struct out *out, const char *schema)
{
    lines_text(&out->lines, "{\"view\":\"");
    lines_text(&out->lines, schema);
    lines_text(&out->lines, "\",\"columns\":[");
}

static void record_name(struct out *out, size_t i, const char *name)
{
    lines_text(&out->lines, i ? ",\"" : "\"");
    lines_text(&out->lines, name);
    lines_text(&out->lines, "\"");
}

static void record_begin(struct out *out, const char *schema)
{
    lines_text(&out->lines, "[\"");
    lines_text(&out->lines, schema);
    lines_text(&out->lines, "\"");
}

static void record_value(struct out *out, const struct cell *cell)
{
    lines_text(&out->lines, ",");
    value_put(&out->lines, out->format, cell);
}

static void record_end(struct out *out, const char *end)
{
    lines_text(&out->lines, end);
    lines_end(&out->lines);
}

static uint64_t hash_of_names(const struct field *fields, size_t n)
{
    uint64_t hash = 1;

    for (size_t i = 0; i < n; i++, hash = hash * 31 + 1)
        for (const char *c = fields[i].name; *c; c++)
            hash = hash * 31 + (unsigned char)*c;
    return hash;
}

/* Lines that every window has are lists, like rows. */
static bool record_note(struct out *out, const char *name, const struct field *fields, size_t n)
{
    uint64_t names = hash_of_names(fields, n);
    size_t table = 0;

    while (table < TABLES && strcmp(name, tables[table]) != 0)
        table++;
    if (table == TABLES)
        return false;
    if (names != out->note_names[table]) {
        record_columns(out, name);
        for (size_t i = 0; i < n; i++)
            record_name(out, i, fields[i].name);
        record_end(out, "]}");
    }
    out->note_names[table] = names;
    record_begin(out, name);
    for (size_t i = 0; i < n; i++)
        record_value(out, &fields[i].cell);
    record_end(out, "]");
    return true;
}

void out_note(struct out *out, const char *name, const struct field *fields, size_t n)
{
    if (!out)
        return;
    remember_window(out, name, fields, n);
    if (out->format == OUT_RECORD && record_note(out, name, fields, n))
        return;
    if (out->format == OUT_JSON || out->format == OUT_RECORD)
        note_json(out, name, fields, n);
    else if (out->format == OUT_PROM)
        prom_note(&out->lines, name, fields, n);
    else if (out->format != OUT_CSV)
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

static void put_value(struct out *out, const struct column *column, const struct cell *cell)
{
    char text[HUMAN_TEXT];
    double value = cell->kind == CELL_UNSIGNED  ? (double)cell->u
                   : cell->kind == CELL_SIGNED  ? (double)cell->i
                   : cell->kind == CELL_DECIMAL ? cell->d
                                                : (double)NAN;

    if (out->people && !isnan(value) && human_format(column->unit, value, text))
        lines_text(&out->lines, text);
    else
        value_put(&out->lines, out->format, cell);
}

/* The header line (cells == NULL) or a row: both are aligned alike. */
static void put_line(struct out *out, const struct headed *headed, const struct cell *cells)
{
    const struct schema *schema = headed->schema;
    size_t start = out->lines.length;

    out->pending = 0;
    if (!cells)
        lines_text(&out->lines, "#");
    lines_text(&out->lines, schema->name);
    if (out->format == OUT_TEXT)
        align(out, start, strlen(schema->name) + out->header, true);
    for (size_t i = 0; i < headed->ncolumns; i++) {
        const struct column *column = &schema->columns[headed->columns[i]];
        size_t least = (size_t)abs(column->width), name = strlen(column->name);
        separate(out);
        start = out->lines.length;
        if (cells)
            put_value(out, column, &cells[headed->columns[i]]);
        else
            lines_text(&out->lines, column->name);
        if (out->format == OUT_TEXT)
            align(out, start, least > name ? least : name, column->width < 0);
    }
    lines_end(&out->lines);
}

/* A line of a reader of RFC 4180 ends in CR and LF. */
static void put_csv_line(struct out *out, const struct headed *headed, const struct cell *cells)
{
    const struct schema *schema = headed->schema;
    const struct cell window[] = {cell_string(schema->name), out->seq, out->start, out->length, out->lost};

    if (!cells)
        lines_text(&out->lines, "view,seq,start,dur_ms,lost");
    for (size_t i = 0; cells && i < sizeof window / sizeof *window; i++) {
        lines_text(&out->lines, i ? "," : "");
        value_put(&out->lines, out->format, &window[i]);
    }
    for (size_t i = 0; i < headed->ncolumns; i++) {
        lines_text(&out->lines, ",");
        if (cells)
            value_put(&out->lines, out->format, &cells[headed->columns[i]]);
        else
            lines_text(&out->lines, schema->columns[headed->columns[i]].name);
    }
    lines_text(&out->lines, "\r");
    lines_end(&out->lines);
}

/* NULL: there are too many. */
static struct headed *headed_of(struct out *out, const struct schema *schema)
{
    struct headed *headed = out->headed;

    for (; headed < out->headed + out->nheaded; headed++)
        if (headed->schema == schema)
            return headed;
    if (out->nheaded == MAX_HEADED) {
        lines_fail(&out->lines, -E2BIG);
        return NULL;
    }
    out->nheaded++;
    *headed = (struct headed){.schema = schema};
    headed->ncolumns = choice_of(&out->choice, schema, headed->columns);
    return headed;
}

static void put_names(struct out *out, const struct headed *headed)
{
    if (out->format == OUT_CSV) {
        put_csv_line(out, headed, NULL);
    } else if (out->format == OUT_RECORD) {
        record_columns(out, headed->schema->name);
        for (size_t i = 0; i < headed->ncolumns; i++)
            record_name(out, i, headed->schema->columns[headed->columns[i]].name);
        record_end(out, "]}");
    } else {
        put_line(out, headed, NULL);
    }
}

static void row_record(struct out *out, const struct schema *schema, const struct cell *cells)
{
    record_begin(out, schema->name);
    for (size_t i = 0; i < schema->ncolumns; i++)
        record_value(out, &cells[i]);
    record_end(out, "]");
}

/* Tables of a report rank their rows themselves. */
static bool has_rank(const struct schema *schema)
{
    for (size_t i = 0; i < schema->ncolumns; i++)
        if (!strcmp(schema->columns[i].name, "rank"))
            return true;
    return false;
}

static void row_json(struct out *out, const struct schema *schema, const struct cell *cells,
                     const struct cell *rank)
{
    struct cell name = cell_string(schema->name);

    put_type(out, "row");
    put_member(out, "view", &name);
    put_member(out, "seq", &out->seq);
    if (!has_rank(schema))
        put_member(out, "rank", rank);
    for (size_t i = 0; i < schema->ncolumns; i++)
        put_member(out, schema->columns[i].name, &cells[i]);
    finish_object(out);
}

void out_put(struct out *out, const struct schema *schema, const struct cell *cells, bool ranked)
{
    struct headed *headed = headed_of(out, schema);
    struct cell rank = cell_unknown();

    if (!headed)
        return;
    if (ranked)
        rank = cell_unsigned(++headed->rank);
    if (!headed->named && (out->header || out->format == OUT_RECORD))
        put_names(out, headed);
    headed->named = true;
    if (out->format == OUT_JSON)
        row_json(out, schema, cells, &rank);
    else if (out->format == OUT_RECORD)
        row_record(out, schema, cells);
    else if (out->format == OUT_CSV)
        put_csv_line(out, headed, cells);
    else if (out->format != OUT_PROM)
        put_line(out, headed, cells);
}

void out_table(struct out *out, const struct schema *schema, const struct cell *const *rows, size_t n,
               size_t others)
{
    prom_table(&out->lines, schema, rows, n, others);
}

void out_layer(struct out *out, out_row_fn fn, void *context)
{
    out->layer = fn;
    out->context = context;
}

bool out_row_of(struct out *out, const struct schema *schema, const struct cell *cells,
                const struct row_keys *keys)
{
    if (!out)
        return false;
    if (out->layer)
        return out->layer(out->context, schema, cells, keys);
    out_put(out, schema, cells, keys);
    return true;
}

void out_row(struct out *out, const struct schema *schema, const struct cell *cells)
{
    out_row_of(out, schema, cells, NULL);
}
