/* SPDX-License-Identifier: GPL-2.0-only */
/* A bounded table of structs that are found by a number: what is known of each process, thread, ... from one
 * look to the next. */
#ifndef HOG_BASE_HASH_TABLE_H
#define HOG_BASE_HASH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hash_table {
    size_t size; /* of an entry, which begins with its uint64_t id */
    size_t most; /* entries that it may hold */
    unsigned char *entries;
    size_t n, room;
    uint32_t *places; /* open addressing, at most half full: 1 + number of an entry */
    size_t capacity;
};

void *hash_table_at(const struct hash_table *t, size_t i);      /* 0 .. n - 1, in no order */
void *hash_table_find(const struct hash_table *t, uint64_t id); /* or NULL */
void *hash_table_find_or_add(struct hash_table *t,
                             uint64_t id); /* a new one is zero but for its id; NULL: no room */
typedef bool (*hash_table_fn)(const void *context, const void *entry);
void hash_table_keep(struct hash_table *t, hash_table_fn wanted,
                     const void *context);  /* and drop the others: entries move */
void hash_table_free(struct hash_table *t); /* may be used again */

#endif
