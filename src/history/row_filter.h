/* SPDX-License-Identifier: GPL-2.0-only */
/* Which rows of a recording filters choose: by the columns that they were recorded with. */
#ifndef HOG_HISTORY_ROW_FILTER_H
#define HOG_HISTORY_ROW_FILTER_H

#include "history/reader.h"
#include "host/filter.h"

#define ROW_FILTER_VIEWS 128

/* What rows of a recording must be; of all its views. */
struct row_filter {
    const struct filter *filter; /* or NULL */
    unsigned kinds;              /* that are asked for: enum filter_kind, ROW_FILTER_KERNEL */
    uint64_t rows, passed;
    char without[ROW_FILTER_VIEWS]; /* names of views whose rows cannot be chosen and are left out */
    unsigned lacks, has;            /* kinds that such a view has no columns for; that any view has */
};

/* In `kinds`: no kernel threads. */
#define ROW_FILTER_KERNEL 64

/* Of a view, and of the other task of its rows: columns, or -1. */
struct row_columns {
    bool chosen; /* false: its rows are left out */
    struct row_task_columns {
        int pid, comm, uid, user, cgroup, container, pod, ppid, parent;
    } task, victim;
};

/* Finds the columns of a view, and notes what it lacks. */
void row_filter_columns(struct row_filter *filter, const struct record_view *view,
                        struct row_columns *columns);

bool row_filter_passes(struct row_filter *filter, const struct row_columns *columns,
                       const struct record *record);

/* After the recording was read. -ENODATA with a reason: none of its views has the columns. */
int row_filter_check(const struct row_filter *filter, const char *path, struct error *why);

#endif
