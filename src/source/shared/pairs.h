/* SPDX-License-Identifier: GPL-2.0-only */
/* Sums by victim and aggressor: who waited for whom. Signed, as in source/shared/tally.h. */
#ifndef HOG_SOURCE_SHARED_PAIRS_H
#define HOG_SOURCE_SHARED_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pair {
    uint64_t victim; /* 0: empty */
    uint64_t aggressor;
    int64_t ns, count;
    uint64_t most_ns; /* the longest single one */
    bool preempt;     /* the victim was thrown off its CPU, else woken up and left waiting */
};

struct pairs {
    struct pair *table; /* open addressing, at most half full */
    size_t capacity, used;
};

/* The sum of that pair, a new one of zero if there was none; NULL: no memory. Valid until the next call. */
struct pair *pairs_at(struct pairs *p, uint64_t victim, uint64_t aggressor, bool preempt);
struct pair *pairs_find(const struct pairs *p, uint64_t victim, uint64_t aggressor,
                        bool preempt); /* or NULL */
void pairs_clear(struct pairs *p);     /* keeps the memory */
void pairs_free(struct pairs *p);

/* The heaviest of those of positive ns that `wanted` takes (NULL: all), heaviest first, by their keys among
 * equals. Writes up to k pointers to `top`, returns how many. `wanted` is asked last: of few. */
typedef bool (*pair_fn)(const void *context, const struct pair *pair);
size_t pairs_top(const struct pairs *p, const struct pair **top, size_t k, pair_fn wanted,
                 const void *context);

#endif
