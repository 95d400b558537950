/* SPDX-License-Identifier: GPL-2.0-only */
/* Sums by victim and aggressor: which task waited for which. Signed, as in source/shared/tally.h. */
#ifndef HOG_SOURCE_SHARED_PAIRS_H
#define HOG_SOURCE_SHARED_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pair {
    uint64_t victim; /* 0: empty */
    uint64_t aggressor;
    int64_t ns, count;
    uint64_t most_ns; /* the longest single wait */
    bool preempt;     /* the victim was preempted; else it waited after a wakeup */
};

struct pairs {
    struct pair *table; /* open addressing, at most half full */
    size_t capacity, used;
};

/* The sum of that pair, zero if it is new; NULL: no memory. Valid until the next call. */
struct pair *pairs_at(struct pairs *p, uint64_t victim, uint64_t aggressor, bool preempt);
struct pair *pairs_find(const struct pairs *p, uint64_t victim, uint64_t aggressor,
                        bool preempt); /* or NULL */
void pairs_clear(struct pairs *p);     /* keeps the memory */
void pairs_free(struct pairs *p);

/* The k heaviest pairs with ns > 0 that `wanted` accepts (NULL: all), heaviest first, ties by key. Writes up
 * to k pointers to `top` and returns their number. `wanted` is called only for candidates. */
typedef bool (*pair_fn)(const void *context, const struct pair *pair);
size_t pairs_top(const struct pairs *p, const struct pair **top, size_t k, pair_fn wanted,
                 const void *context);

#endif
