/* SPDX-License-Identifier: GPL-2.0-only */
/* Sums by key: what a window's slots add up to, over stages, CPUs and stints. Signed, because the credit that
 * a running stint got in one window is taken back in the next. */
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
    size_t refused; /* additions that found no memory */
};

/* Adds to key (not 0); 0 or -ENOMEM, then the sum is as before. */
int tally_add(struct tally *t, uint64_t key, int64_t weight, int64_t count);
const struct tally_entry *tally_find(const struct tally *t, uint64_t key); /* or NULL */
void tally_clear(struct tally *t);                                         /* keeps the memory */
void tally_free(struct tally *t);

/* The heaviest entries of positive weight that `wanted` takes (NULL: all), heaviest first, the smaller key
 * first among equals. Writes up to k pointers to `top`, returns how many. `wanted` is asked last: of few. */
typedef bool (*tally_fn)(const void *context, const struct tally_entry *entry);
size_t tally_top(const struct tally *t, const struct tally_entry **top, size_t k, tally_fn wanted,
                 const void *context);

#endif
