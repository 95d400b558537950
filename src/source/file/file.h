/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads and writes of files in a window, from the cells of bpf/file/file.bpf.h. */
#ifndef HOG_SOURCE_FILE_FILE_H
#define HOG_SOURCE_FILE_FILE_H

#include "source/shared/pinned.h"
#include "source/shared/collector.h"

struct hog_file_cell;
struct file_seen;

/* A cell with activity in the window. */
struct file_use {
    uint32_t cell;
    uint64_t count, bytes, waited;
    bool timed;             /* the quantiles are known */
    uint64_t p50, p95, p99; /* ns, to 6.25 % */
};

struct file_cells {
    const struct source_context *context;
    struct collector collector;
    struct pinned pinned;                 /* when another hog counts: by mount, without file names */
    volatile struct hog_file_cell *cells; /* shared with the programs */
    uint32_t mapped;                      /* number of cells mapped */
    struct file_seen *seen;               /* last snapshot, by cell */
    size_t nseen, room;
    struct file_use *uses; /* cells with activity in the window */
    size_t n, uses_room;
    uint64_t lost; /* in the window */
    uint64_t lost_before, missed, checked;
};

extern const struct source file_source;

/* The session's instance; NULL: not open. */
struct file_cells *file_cells_of(const struct source_context *context);

#endif
