/* SPDX-License-Identifier: GPL-2.0-only */
/* What `top` knows of each process, joined by key: in the window, and over the span that verdicts use. */
#ifndef HOG_VIEW_TOP_PROCESS_TABLE_H
#define HOG_VIEW_TOP_PROCESS_TABLE_H

#include <stddef.h>
#include <stdint.h>
#include "verdict/growth.h"
#include "verdict/rules.h"

struct judged_process {
    uint64_t key;             /* 0: empty */
    struct times now, judged; /* in the window; over the span, window included */
    int64_t waits;            /* sleeps that ended in the window */
    uint64_t most_wait_ns;    /* longest of them */
    int64_t io_sleeps;        /* sleeps on I/O that ended in the window */
    double timed, mmap, sync; /* ns in the window of such sleeps: enum blocked */
    uint64_t blocked_ns;      /* how long the sleep for which it is blocked has lasted */
    struct growth growth;     /* of resident memory */
    bool grows;               /* at the last snapshot */
    struct outlook outlook;   /* when it runs out of memory */
    enum verdict verdict;
    bool wanted, long_blocked; /* it may have a row; and among the first, as it hangs for long */
    size_t rank;               /* rank, from 1; 0: no row */
};

struct process_table {
    struct judged_process *table; /* open addressing, at most half full */
    size_t capacity, used;
    double window, span; /* ns: length of the window, and of the span */
};

/* Begins a window of `window` ns. The span of `span` ns decays: old time fades as fast as new time arrives.
 * If the window is as long as the span, it is judged by itself. Processes idle for a while are dropped.
 * -ENOMEM: all are. */
int process_table_begin(struct process_table *s, double window, double span);

/* A new one starts at zero. NULL: out of memory. Valid until the next call. */
struct judged_process *process_table_at(struct process_table *s, uint64_t key);
struct judged_process *process_table_find(const struct process_table *s, uint64_t key); /* or NULL */

/* Ends the window: adds it to the span. */
void process_table_end(struct process_table *s);
void process_table_free(struct process_table *s);

#endif
