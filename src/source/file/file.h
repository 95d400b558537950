/* SPDX-License-Identifier: GPL-2.0-only */
/* What was read and written in a window, by the cells of bpf/file/file.bpf.h. */
#ifndef HOG_SOURCE_FILE_FILE_H
#define HOG_SOURCE_FILE_FILE_H

#include "source/shared/pinned.h"
#include "source/shared/collector.h"

struct hog_file_cell;
struct file_seen;

/* A cell with something in the window. */
struct file_use {
    uint32_t cell;
    uint64_t count, bytes, waited;
    bool timed;             /* the next are known */
    uint64_t p50, p95, p99; /* ns, to 6.25 % */
};

struct file_cells {
    const struct source_context *context;
    struct collector collector;
    struct pinned pinned;                 /* where another hog counts: by mount, nobody by name */
    volatile struct hog_file_cell *cells; /* shared with the programs */
    uint32_t mapped;                      /* so many of them */
    struct file_seen *seen;               /* what was there before, by cell */
    size_t nseen, room;
    struct file_use *uses; /* of the window */
    size_t n, uses_room;
    uint64_t lost; /* in the window */
    uint64_t lost_before, missed, checked;
};

/* Of the command line. */
extern struct file_options {
    bool by_mount;      /* rows by mount, all processes added up */
    unsigned top_files; /* rows of single files; 0: none */
    bool all_files;     /* pipes, sockets and devices as well */
} file_options;

extern const struct source file_source;

/* Of the session; NULL: it is not open. */
struct file_cells *file_cells_of(const struct source_context *context);

#endif
