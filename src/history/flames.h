/* SPDX-License-Identifier: GPL-2.0-only */
/* The call stacks of a recording as trees, one of each kind of rows with a column of UNIT_STACK: what a
 * function and all that it called came to. Bounded: what is light is left out, its weight stays with its
 * caller. */
#ifndef HOG_HISTORY_FLAMES_H
#define HOG_HISTORY_FLAMES_H

#include "base/hash_table.h"
#include "history/reader.h"
#include "out/column.h"

#define FLAMES_MOST  4   /* trees */
#define FLAMES_DEPTH 160 /* functions */
#define FLAMES_NAME  136

/* Where a view has what is drawn. */
struct flame_columns {
    int stack, weight, comm; /* -1: none; weight: the first that is ranked and adds up */
    int about;               /* what rows are about besides: the first levels of the tree; or -1 */
    const struct column *weighs;
};

struct flame {
    uint64_t id, caller; /* caller: an id; 0: it is the first */
    double weight;       /* by seconds for rates and levels */
    unsigned depth;
    char name[FLAMES_NAME];
};

struct flame_tree {
    char view[RECORD_MOST_NAME];
    const struct column *weighs;
    struct hash_table flames;
    double weight;
    uint64_t cut; /* stacks that are not drawn to their end */
};

struct flames {
    unsigned n;
    struct flame_tree trees[FLAMES_MOST];
};

void flames_columns(const struct schema *const *schemas, const struct record_view *view,
                    struct flame_columns *columns);

/* A row of a view that has such a column. *flames is made when it is first needed. 0 or -ENOMEM. */
int flames_add(struct flames **flames, const struct flame_columns *columns, const struct record *record,
               double seconds);
void flames_free(struct flames *flames);

#endif
