/* SPDX-License-Identifier: GPL-2.0-only */
/* All that the view `top` knows of each process, joined by key: in the window, and over the span that it is
 * judged by. */
#ifndef HOG_METRIC_SUBJECTS_H
#define HOG_METRIC_SUBJECTS_H

#include <stddef.h>
#include <stdint.h>
#include "verdict/growth.h"
#include "verdict/rules.h"

struct subject {
    uint64_t key;             /* 0: empty */
    struct times now, judged; /* in the window; over the span, the window included */
    int64_t waits;            /* that ended in the window */
    uint64_t most_wait_ns;    /* the longest of them */
    int64_t io_sleeps;        /* on I/O, that ended in the window */
    struct growth growth;     /* of its resident memory */
    bool grows;               /* at the last look */
    struct outlook outlook;   /* when its memory ends */
    enum verdict verdict;
    size_t rank; /* its row, from 1; 0: it has none */
};

struct subjects {
    struct subject *table; /* open addressing, at most half full */
    size_t capacity, used;
    double window, span; /* ns that the times are about: of the window, and judged */
};

/* Begins a window of `window` ns that is judged together with those before, over `span` ns: what was goes by
 * as fast as new time comes. A window that is as long as the span is judged by itself. Who has done nothing
 * for a while is forgotten. -ENOMEM: all are. */
int subjects_begin(struct subjects *s, double window, double span);

/* One that is new begins with nothing. NULL: no memory. Valid until the next call. */
struct subject *subjects_at(struct subjects *s, uint64_t key);
struct subject *subjects_find(const struct subjects *s, uint64_t key); /* or NULL */

/* The window is complete: adds it to what is judged. */
void subjects_end(struct subjects *s);
void subjects_free(struct subjects *s);

#endif
