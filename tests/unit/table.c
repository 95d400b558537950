/* SPDX-License-Identifier: GPL-2.0-only */
/* The table finds what was put in, among many, after others were dropped, and up to its bound. */
#include "base/hash_table.h"
#include <string.h>
#include "tests/unit/tap.h"

#define MOST 1000

struct entry {
    uint64_t id;
    uint32_t value;
};

/* Ids that differ only in high bits, only in low bits, and 0. */
static uint64_t id_of(uint32_t i)
{
    return i % 2 ? (uint64_t)i << 42 : i;
}

static bool is_third(const void *context, const void *entry)
{
    return ((const struct entry *)entry)->value % 3 == *(const uint32_t *)context;
}

static unsigned count_found(const struct hash_table *t, uint32_t step, uint32_t from)
{
    unsigned found = 0;

    for (uint32_t i = from; i < MOST; i += step) {
        const struct entry *entry = hash_table_find(t, id_of(i));
        found += entry && entry->id == id_of(i) && entry->value == i;
    }
    return found;
}

int main(void)
{
    struct hash_table t = {.size = sizeof(struct entry), .most = MOST};
    uint32_t rest = 1;

    check(!hash_table_find(&t, 0), "an empty one has nothing");
    for (uint32_t i = 0; i < MOST; i++) {
        struct entry *entry = hash_table_find_or_add(&t, id_of(i));
        if (!entry || entry->value)
            break;
        entry->value = i;
    }
    check(t.n == MOST && count_found(&t, 1, 0) == MOST, "all are found: %u of %u", count_found(&t, 1, 0),
          MOST);
    struct entry *again = hash_table_find_or_add(&t, id_of(7));
    check(again && again->value == 7 && t.n == MOST, "what is there is not added again");
    check(!hash_table_find_or_add(&t, 1ull << 63), "and there is room for no more");
    hash_table_keep(&t, is_third, &rest);
    check(t.n == 333 && count_found(&t, 3, 1) == 333, "those kept are found: %u", count_found(&t, 3, 1));
    check(!count_found(&t, 3, 0) && !count_found(&t, 3, 2), "those dropped are not");
    struct entry *fresh = hash_table_find_or_add(&t, id_of(3));
    check(fresh && !fresh->value && t.n == 334, "a new one in the place of an old one is zero");
    hash_table_free(&t);
    check(!hash_table_find(&t, id_of(1)) && hash_table_find_or_add(&t, 5), "it may be used again");
    hash_table_free(&t);
    return done();
}
