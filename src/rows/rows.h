/* SPDX-License-Identifier: GPL-2.0-only */
/* Between views and lines: filters rows (-p !PID, -c, -u, -g, --container, --pod), adds columns about their
 * tasks (--with), groups (--by) and sorts them (--sort), alike in every view. */
#ifndef HOG_ROWS_ROWS_H
#define HOG_ROWS_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "host/filter.h"
#include "out/out.h"
#include "base/error.h"

/* How many rows a view is asked for when they are filtered, grouped or sorted after it: all. */
#define ROWS_ALL 65536

/* What rows are grouped by, or shown with in addition to the view's own columns: bits. */
enum rows_word {
    ROWS_PROCESS = 1 << 0,
    ROWS_THREAD = 1 << 1,
    ROWS_COMM = 1 << 2,
    ROWS_UID = 1 << 3,
    ROWS_USER = 1 << 4,
    ROWS_CGROUP = 1 << 5,
    ROWS_CONTAINER = 1 << 6,
    ROWS_POD = 1 << 7,
    ROWS_PARENT = 1 << 8,
    ROWS_CPU = 1 << 9,
    ROWS_MOUNT = 1 << 10, /* a column of one view: it groups by it itself */
    ROWS_ARGS = 1 << 11,
    ROWS_PSS = 1 << 12,      /* the same for --with */
    ROWS_SELF = 1 << 13,     /* a line, of what hog itself used */
    ROWS_FUNCTION = 1 << 14, /* a column of one view: all tasks together, but rows that differ in it */
};

struct rows_options {
    const struct filter_options *filters;
    uint32_t with, by;   /* of enum rows_word; by: one of them, or 0 */
    const char *sort;    /* columns: "a", or "a,b"; NULL: the view's order */
    bool reverse;        /* smallest first */
    const char *columns; /* --columns, to be checked; or NULL */
    unsigned top;
    bool threads; /* rows are of threads */
    enum out_format format;
    unsigned kib; /* memory for rows that wait; 0: the default */
};

struct rows;
struct names;

/* The word of --by or --with for one of these bits. */
const char *rows_word_name(uint32_t word);

/* The words of --with that the names of a list of columns need. */
uint32_t rows_words_of_columns(const char *list);

/* The bit of a word, if it is one of `allowed`; 0: it is not. */
uint32_t rows_word(const char *text, size_t length, uint32_t allowed);

/* Whether the views must hand out more rows than are shown. */
bool rows_want_all(const struct rows_options *options);

/* Whether control groups, or what follows from them, are asked for. */
bool rows_want_groups(const struct rows_options *options);

/* schemas: of the views of the run, ends with NULL. names: of the run, or NULL. proc: pids in rows are those
 * of /proc, which can then say more about them. options must outlive the rows. *rows is NULL where nothing of
 * all this is asked for. -EINVAL: these views cannot do it; -ENOMEM. */
int rows_open(struct rows **rows, const struct rows_options *options, const struct schema *const *schemas,
              const struct names *names, bool proc, struct error *why);
void rows_close(struct rows *rows);

/* Rows show other PIDs than /proc after all: /proc is about other processes. */
void rows_without_proc(struct rows *rows);

/* What the filters have become; NULL: there are none. */
const struct filter *rows_filter(const struct rows *rows);

/* To be asked at the end of each window: true once, after the first one, if no row has passed the filters,
 * and no process would. */
bool rows_unmatched(struct rows *rows);

/* Takes the rows that are written to `out` from now on. */
void rows_attach(struct rows *rows, struct out *out);

/* A window's rows are to come. now: its end, CLOCK_MONOTONIC ns. */
void rows_begin(struct rows *rows, uint64_t now);
/* The same within a window. */
void rows_go_on(struct rows *rows, uint64_t now);

/* A view has written its rows: those that were collected go out. */
void rows_flush(struct rows *rows);

/* Rows that found no memory, since this was asked before. */
uint64_t rows_lost(struct rows *rows);

#endif
