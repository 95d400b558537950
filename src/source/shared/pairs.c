// SPDX-License-Identifier: GPL-2.0-only
#include "source/shared/pairs.h"
#include <stdlib.h>
#include <string.h>

static struct pair *pairs_slot(const struct pairs *p, uint64_t victim, uint64_t aggressor, bool preempt)
{
    uint64_t mixed = victim * 0x9e3779b97f4a7c15ull ^ (aggressor * 0xc2b2ae3d27d4eb4full + preempt);
    size_t i = (mixed * 0xff51afd7ed558ccdull) >> 32;

    for (;; i++) {
        struct pair *pair = &p->table[i & (p->capacity - 1)];
        if (!pair->victim ||
            (pair->victim == victim && pair->aggressor == aggressor && pair->preempt == preempt))
            return pair;
    }
}

static bool pairs_grow(struct pairs *p)
{
    struct pairs bigger = {.capacity = p->capacity ? p->capacity * 2 : 256, .used = p->used};

    bigger.table = calloc(bigger.capacity, sizeof *bigger.table);
    if (!bigger.table)
        return false;
    for (size_t i = 0; i < p->capacity; i++) {
        const struct pair *pair = &p->table[i];
        if (pair->victim)
            *pairs_slot(&bigger, pair->victim, pair->aggressor, pair->preempt) = *pair;
    }
    free(p->table);
    *p = bigger;
    return true;
}

struct pair *pairs_at(struct pairs *p, uint64_t victim, uint64_t aggressor, bool preempt)
{
    if (p->used * 2 >= p->capacity && !pairs_grow(p))
        return NULL;
    struct pair *pair = pairs_slot(p, victim, aggressor, preempt);
    if (!pair->victim) {
        *pair = (struct pair){.victim = victim, .aggressor = aggressor, .preempt = preempt};
        p->used++;
    }
    return pair;
}

struct pair *pairs_find(const struct pairs *p, uint64_t victim, uint64_t aggressor, bool preempt)
{
    struct pair *pair = p->capacity ? pairs_slot(p, victim, aggressor, preempt) : NULL;

    return pair && pair->victim ? pair : NULL;
}

void pairs_clear(struct pairs *p)
{
    if (p->used)
        memset(p->table, 0, p->capacity * sizeof *p->table);
    p->used = 0;
}

void pairs_free(struct pairs *p)
{
    free(p->table);
    memset(p, 0, sizeof *p);
}

static bool pair_before(const struct pair *a, const struct pair *b)
{
    if (a->ns != b->ns)
        return a->ns > b->ns;
    if (a->victim != b->victim)
        return a->victim < b->victim;
    return a->aggressor != b->aggressor ? a->aggressor < b->aggressor : a->preempt < b->preempt;
}

/* Insertion into a sorted list: few entries move. */
static size_t insert_sorted(const struct pair **top, size_t n, size_t k, const struct pair *pair)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (pair_before(pair, top[middle]))
            high = middle;
        else
            low = middle + 1;
    }
    n += n < k;
    memmove(top + low + 1, top + low, (n - low - 1) * sizeof(*top));
    top[low] = pair;
    return n;
}

size_t pairs_top(const struct pairs *p, const struct pair **top, size_t k, pair_fn wanted,
                 const void *context)
{
    size_t n = 0;

    for (size_t i = 0; i < p->capacity && k; i++) {
        const struct pair *pair = &p->table[i];
        if (!pair->victim || pair->ns <= 0 || (n == k && !pair_before(pair, top[n - 1])))
            continue;
        if (!wanted || wanted(context, pair))
            n = insert_sorted(top, n, k, pair);
    }
    return n;
}
