/* SPDX-License-Identifier: GPL-2.0-only */
/* A bounded table of structs that are found by a number: what is known of each process, thread, ... from one
 * look to the next. */
#ifndef HOG_SKETCH_TABLE_H
#define HOG_SKETCH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table {
    size_t size; /* of an entry, which begins with its uint64_t id */
    size_t most; /* entries that it may hold */
    unsigned char *entries;
    size_t n, room;
    uint32_t *places; /* open addressing, at most half full: 1 + number of an entry */
    size_t capacity;
};

void *table_at(const struct table *t, size_t i);       /* 0 .. n - 1, in no order */
void *table_find(const struct table *t, uint64_t id);  /* or NULL */
void *table_find_or_add(struct table *t, uint64_t id); /* a new one is zero but for its id; NULL: no room */
typedef bool (*table_fn)(const void *context, const void *entry);
void table_keep(struct table *t, table_fn wanted,
                const void *context); /* and drop the others: entries move */
void table_free(struct table *t);     /* may be used again */

#endif
