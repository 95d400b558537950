/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads what `hog record` wrote. Every byte may be hostile. */
#ifndef HOG_HISTORY_READER_H
#define HOG_HISTORY_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

#define RECORD_MOST_COLUMNS 64
#define RECORD_MOST_VIEWS   24
#define RECORD_MOST_NAME    32
#define RECORD_MOST_LINE    (64u << 10)

struct record_view {
    char name[RECORD_MOST_NAME];
    unsigned n; /* columns */
    char columns[RECORD_MOST_COLUMNS][RECORD_MOST_NAME];
};

/* A value as it stands in the file, without quotes. */
struct record_value {
    const char *at;
    uint32_t length;
    bool is_string;
};

struct record {
    const struct record_view *view; /* NULL: the end of a window */
    struct record_value values[RECORD_MOST_COLUMNS];
};

struct reader {
    const char *path;
    int fd;
    unsigned number; /* of the file that is read: counts down to 0 */
    bool between;    /* no file is open */
    char *buffer;    /* bytes[from..to) are not yet taken */
    size_t from, to;
    uint64_t left; /* of the file, up to the end of its last whole window */
    struct record_view *views;
    unsigned nviews;
    unsigned definitions; /* changes when columns have changed */
    /* Statistics of the reading. */
    uint64_t bytes, damaged; /* read; lines passed over */
    unsigned files, torn;    /* torn: those with something behind the last whole window */
};

/* Checks that it is a recording. 0, or -errno with a reason. */
int reader_open(struct reader *reader, const char *path, struct error *why);
void reader_close(struct reader *reader);

/* Back to the first line; the statistics start anew. */
void reader_rewind(struct reader *reader);

/* 1: a record, good until the next call; 0: the end; -errno with a reason. */
int reader_next(struct reader *reader, struct record *record, struct error *why);

/* The column of that name, or -1. */
int record_column(const struct record_view *view, const char *name);

/* false: null, or no number. */
bool record_number(const struct record_value *value, double *number);

/* The name as it was before it was escaped, cut to fit, terminated. false: null. */
bool record_text(const struct record_value *value, char *to, size_t size);

#endif
