/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Windows and rows -> lines. One description of the columns, several writers (text, tsv, json). Knows nothing
 * of BPF or of metrics.
 *
 * Lines are collected and written whole: whatever interrupts hog, what was written ends in a complete line.
 */
#ifndef HOG_OUT_OUT_H
#define HOG_OUT_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "out/cell.h"
#include "out/choice.h"
#include "out/column.h"
#include "out/format.h"

struct out;

/* Writes to fd. header: whether '#VIEW col col ...' lines are written (text and tsv). */
struct out *out_open(int fd, enum out_format format, bool header);
void out_close(struct out *out); /* flushes; frees */

/* prom: each window goes to this file, whole, and nothing to the fd. Must outlive `out`. 0 or -errno: nothing
 * can be written there. */
int out_to_file(struct out *out, const char *path);

/* Which columns lines of text, tsv and csv have. Before the first row; the strings must outlive `out`.
 * Without: all. */
void out_choose(struct out *out, const struct column_choice *choice);

/* text: values of rows for people (human.h). */
void out_for_people(struct out *out);

/* Around all that is written of a window. */
void out_begin_window(struct out *out);
void out_end_window(struct out *out);
/* From now on lines go there, and not to a file. */
struct lines_sink;
void out_to_sink(struct out *out, struct lines_sink *sink);

/* The columns are named once more: another file begins. */
void out_anew(struct out *out);

/* "#NAME field=value ..." ; json: {"type":"NAME","field":value,...}. Strings are escaped as in rows; an empty
 * string is written as `-`. */
void out_note(struct out *out, const char *name, const struct field *fields, size_t n);

/* A line of prose: spaces stay, all else is escaped as in names. For `doctor`, whose text and tsv are
 * sentences. */
void out_line(struct out *out, const char *text);

/* One row: view->ncolumns cells. The header line of the view comes before its first row.
 * json: {"type":"row","view":"cpu","seq":N,"rank":1,...}; seq is that of the last "window" note, rank the
 * row's place among those of its view in that window; null: it is about no task. */
void out_row(struct out *out, const struct schema *schema, const struct cell *cells);

/* The tasks of a row: keys in the PID namespace of the run. 0: none, or not known. */
struct row_keys {
    uint64_t key;    /* the task; where there are two, the one that acts */
    uint64_t victim; /* the one that it acts on */
};

/* A row of a task, or (keys NULL) of none, on its way out. True: it was written, and lines may follow that
 * are about it. */
typedef bool (*out_row_fn)(void *context, const struct schema *schema, const struct cell *cells,
                           const struct row_keys *keys);

/* All rows from now on go to fn, which gives those that are to be written to out_put(), or a whole view of a
 * window to out_table(). */
void out_layer(struct out *out, out_row_fn fn, void *context);
void out_put(struct out *out, const struct schema *schema, const struct cell *cells, bool ranked);

/* prom: the rows, and behind them sums of those that are not among them. */
void out_table(struct out *out, const struct schema *schema, const struct cell *const *rows, size_t n,
               size_t others);

/* A row of a task, so that it can be filtered, grouped and extended (src/rows). All that views show of
 * tasks goes through here; ranks are given anew where rows are chosen or ordered otherwise. */
bool out_row_of(struct out *out, const struct schema *schema, const struct cell *cells,
                const struct row_keys *keys);

/* Writes out all complete lines. 0, -EPIPE when the reader has gone (the caller ends quietly), or another
 * -errno (disk full, ...). After an error all further output is dropped and the error stays. */
int out_flush(struct out *out);

#endif
