/* SPDX-License-Identifier: GPL-2.0-only */
/* Sums by key over stages, CPUs and timeslices of a window. Signed, because the credit for an open timeslice
 * in one window is subtracted in the next. */
#ifndef HOG_SOURCE_SHARED_TALLY_H
#define HOG_SOURCE_SHARED_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tally_entry {
    uint64_t key; /* 0: empty */
    int64_t weight;
    int64_t count;
};

struct tally {
    struct tally_entry *table; /* open addressing, at most half full */
    size_t capacity;           /* a power of two, 0 at first */
    size_t used;
    size_t refused; /* additions that failed for lack of memory */
};

/* Adds to key (not 0). -ENOMEM: the sum is unchanged. */
int tally_add(struct tally *t, uint64_t key, int64_t weight, int64_t count);
const struct tally_entry *tally_find(const struct tally *t, uint64_t key); /* or NULL */
void tally_clear(struct tally *t);                                         /* keeps the memory */
void tally_free(struct tally *t);

/* The k heaviest entries with weight > 0 that `wanted` accepts (NULL: all), heaviest first, ties by key.
 * Writes up to k pointers to `top` and returns their number. `wanted` is called only for candidates. */
typedef bool (*tally_fn)(const void *context, const struct tally_entry *entry);
size_t tally_top(const struct tally *t, const struct tally_entry **top, size_t k, tally_fn wanted,
                 const void *context);

#endif
