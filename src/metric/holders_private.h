/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of holders share. */
#ifndef HOG_METRIC_HOLDERS_PRIVATE_H
#define HOG_METRIC_HOLDERS_PRIVATE_H

#include "host/names.h"
#include "mem.types.h"
#include "metric/holders.h"
#include "sketch/table.h"

struct holders {
    const struct metric_context *context;
    struct mem_load load;
    struct table table;
    struct holder outside; /* all that have no number, one row */
    struct holder **order;
    size_t room;
    struct mem_totals totals;
    struct mem_files files;  /* of those who are shown again and again */
    uint64_t window, length; /* number and ns */
    uint64_t look, next;     /* number of the last one; when the next one may be */
    bool all_known;          /* the last look saw all */
    bool lost_room;          /* it had no room for some */
    uint64_t page_kib;
};

/* It has ended in this window. */
void holder_end(struct holders *h, struct holder *holder);

#endif
