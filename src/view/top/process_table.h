/* SPDX-License-Identifier: GPL-2.0-only */
/* All that the view `top` knows of each process, joined by key: in the window, and over the span that it is
 * judged by. */
#ifndef HOG_VIEW_TOP_PROCESS_TABLE_H
#define HOG_VIEW_TOP_PROCESS_TABLE_H

#include <stddef.h>
#include <stdint.h>
#include "verdict/growth.h"
#include "verdict/rules.h"

struct judged_process {
    uint64_t key;             /* 0: empty */
    struct times now, judged; /* in the window; over the span, the window included */
    int64_t waits;            /* that ended in the window */
    uint64_t most_wait_ns;    /* the longest of them */
    int64_t io_sleeps;        /* on I/O, that ended in the window */
    struct growth growth;     /* of its resident memory */
    bool grows;               /* at the last snapshot */
    struct outlook outlook;   /* when its memory ends */
    enum verdict verdict;
    size_t rank; /* its row, from 1; 0: it has none */
};

struct process_table {
    struct judged_process *table; /* open addressing, at most half full */
    size_t capacity, used;
    double window, span; /* ns that the times are about: of the window, and judged */
};

/* Begins a window of `window` ns that is judged together with those before, over `span` ns: what was goes by
 * as fast as new time comes. A window that is as long as the span is judged by itself. Who has done nothing
 * for a while is forgotten. -ENOMEM: all are. */
int process_table_begin(struct process_table *s, double window, double span);

/* One that is new begins with nothing. NULL: no memory. Valid until the next call. */
struct judged_process *process_table_at(struct process_table *s, uint64_t key);
struct judged_process *process_table_find(const struct process_table *s, uint64_t key); /* or NULL */

/* The window is complete: adds it to what is judged. */
void process_table_end(struct process_table *s);
void process_table_free(struct process_table *s);

#endif
