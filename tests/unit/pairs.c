/* SPDX-License-Identifier: GPL-2.0-only */
/* Sums by pair: found again after the table has grown, and in the order of their weight. */
#include "source/shared/pairs.h"
#include "tests/unit/tap.h"
#include <stdlib.h>

#define VICTIMS    97
#define AGGRESSORS 31

static int64_t weight_of(uint64_t victim, uint64_t aggressor, bool preempt)
{
    return (int64_t)(victim * 1009 % 911 + aggressor * 641 % 733 + (preempt ? 5000 : 0));
}

static void fill(struct pairs *pairs)
{
    for (int round = 0; round < 2; round++)
        for (uint64_t v = 1; v <= VICTIMS; v++)
            for (uint64_t a = 0; a < AGGRESSORS; a++)
                for (int preempt = 0; preempt < 2; preempt++) {
                    struct pair *pair = pairs_at(pairs, v, a, preempt);
                    if (!pair)
                        exit(1);
                    pair->ns += weight_of(v, a, preempt);
                    pair->count++;
                }
}

static bool all_there(const struct pairs *pairs)
{
    for (uint64_t v = 1; v <= VICTIMS; v++)
        for (uint64_t a = 0; a < AGGRESSORS; a++)
            for (int preempt = 0; preempt < 2; preempt++) {
                const struct pair *pair = pairs_find(pairs, v, a, preempt);
                if (!pair || pair->ns != 2 * weight_of(v, a, preempt) || pair->count != 2)
                    return false;
            }
    return true;
}

static bool is_odd(const void *context, const struct pair *pair)
{
    (*(unsigned *)(uintptr_t)context)++;
    return pair->victim % 2;
}

static bool in_order(const struct pair **top, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (top[i - 1]->ns < top[i]->ns)
            return false;
    return true;
}

/* How many of the wanted pairs are heavier than the last one shown. */
static size_t heavier(const struct pairs *pairs, int64_t ns)
{
    size_t n = 0;

    for (size_t i = 0; i < pairs->capacity; i++)
        n += pairs->table[i].victim % 2 && pairs->table[i].ns > ns;
    return n;
}

int main(void)
{
    struct pairs pairs = {0};
    const struct pair *top[50];
    unsigned asked = 0;

    check(!pairs_find(&pairs, 1, 2, false), "nothing is in an empty table");
    check(pairs_top(&pairs, top, 50, NULL, NULL) == 0, "and none of it is heaviest");
    fill(&pairs);
    check(pairs.used == VICTIMS * AGGRESSORS * 2, "each pair and kind is there once: %zu", pairs.used);
    check(all_there(&pairs), "with all that was added, after the table has grown");
    check(!pairs_find(&pairs, VICTIMS + 1, 0, false), "and no other");
    size_t n = pairs_top(&pairs, top, 50, is_odd, &asked);
    check(n == 50 && in_order(top, n), "the heaviest come first: %zu of them", n);
    check(heavier(&pairs, top[49]->ns) < 50, "none is heavier than these");
    for (size_t i = 0; i < n; i++)
        asked = top[i]->victim % 2 ? asked : 0;
    check(asked != 0, "only those wanted");
    pairs_at(&pairs, 5000, 1, true)->ns = -1;
    check(pairs_top(&pairs, top, 1, NULL, NULL) == 1 && top[0]->ns > 0, "a debt is not heavy");
    pairs_clear(&pairs);
    check(!pairs.used && !pairs_find(&pairs, 1, 0, false), "nothing is in a table that was cleared");
    pairs_free(&pairs);
    return done();
}
