// SPDX-License-Identifier: GPL-2.0-only
/* The sketch's algorithm, on the model: merging, order of eviction, and that nothing vanishes unaccounted.
 * That the kernel's side does the same is tests/live/sketch.c. */
#include "../model/hashpipe.h"
#include "tap.h"
#include "source/shared/tally.h"

static void same_key_adds_up(void)
{
    struct model m;

    model_open(&m, 4, 64);
    for (unsigned i = 1; i <= 100; i++)
        model_add(&m, 42, i, 1);
    check(model_slot(&m, 0, 42)->weight == 5050 && model_slot(&m, 0, 42)->count == 100,
          "one key stays in one slot");
    check(m.lost_count == 0, "one key loses nothing");
    model_close(&m);
}

/* A key that shares all of its slots with others, as far as tables of one slot go: two stages, two slots in
 * all. */
static void stages_fill_in_order(void)
{
    struct model m;

    model_open(&m, 2, 1);
    model_add(&m, 1, 50, 1);
    model_add(&m, 2, 10, 1);
    check(m.table[0].key == 1 && m.table[1].key == 2, "an empty slot is taken, the first stage's first");
    check(m.lost_weight == 0 && m.lost_count == 0, "and nothing is lost");
    model_add(&m, 2, 5, 2);
    check(m.table[1].weight == 15 && m.table[1].count == 3 && model_sum(&m, 2).weight == 15,
          "a key adds up where it stands, in a later stage too");
    model_close(&m);
}

static void lightest_gives_way(void)
{
    struct model m;

    model_open(&m, 2, 1);
    model_add(&m, 1, 50, 7);
    model_add(&m, 2, 10, 3);
    model_add(&m, 3, 10, 1); /* as heavy as 2: replaces it */
    check(m.table[0].key == 1 && m.table[1].key == 3 && m.table[1].weight == 10,
          "the lightest is replaced, not the first");
    check(m.lost_weight == 10 && m.lost_count == 3, "a replaced key is lost with weight and count");
    model_add(&m, 4, 1000, 1);
    check(m.table[1].key == 4 && m.lost_weight == 20 && m.lost_count == 4, "a heavy newcomer stays");
    model_close(&m);
}

static void lighter_newcomer_ages_the_lightest(void)
{
    struct model m;

    model_open(&m, 2, 1);
    model_add(&m, 1, 50, 1);
    model_add(&m, 2, 10, 1);
    model_add(&m, 3, 4, 1);
    check(m.table[1].key == 2 && m.table[1].weight == 6 && m.table[1].count == 1,
          "the lightest gets lighter by the newcomer");
    check(m.table[0].weight == 50, "the others do not");
    check(m.lost_weight == 8 && m.lost_count == 1,
          "the newcomer's weight is lost, and as much of the lightest one's");
    model_add(&m, 3, 4, 1); /* 6 > 4 still */
    model_add(&m, 3, 4, 1); /* 2 <= 4: in */
    check(m.table[1].key == 3 && m.table[1].weight == 4, "a key that comes again and again gets in");
    check(model_total(&m).weight + m.lost_weight == 50 + 10 + 4 + 4 + 4, "and all of it is accounted for");
    model_close(&m);
}

/* The heaviest of many keys in few slots, and never shown too heavy. */
static void heavy_stays_among_many_light(void)
{
    struct model m;
    bool never_more = true;

    model_open(&m, 4, 8);
    for (uint64_t round = 1; round <= 1000; round++) {
        model_add(&m, 1ull << 42, 100, 1);
        for (uint64_t light = 1; light <= 50; light++)
            model_add(&m, (round * 50 + light) << 42, 1, 1); /* never seen before, never again */
        never_more &= model_sum(&m, 1ull << 42).weight <= round * 100;
    }
    check(model_sum(&m, 1ull << 42).weight > 90000, "50,000 light keys do not wash a heavy one out");
    check(never_more, "no key is heavier than it is");
    model_close(&m);
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void nothing_vanishes(void)
{
    static const unsigned shapes[][2] = {{1, 8}, {2, 8}, {3, 16}, {4, 64}, {8, 8}, {8, 1024}};
    bool weights = true, counts = true, always = true;
    uint64_t random = 88172645463325252ull;

    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        struct model m;
        uint64_t weight = 0;
        model_open(&m, shapes[s][0], shapes[s][1]);
        for (unsigned n = 1; n <= 100000; n++) {
            uint64_t key = next_random(&random) % 5000 + 1, w = next_random(&random) % 1000000;
            model_add(&m, key << 20, w, 1);
            weight += w;
            if (n % 9973 == 0)
                always &= model_total(&m).weight + m.lost_weight == weight;
        }
        weights &= model_total(&m).weight + m.lost_weight == weight;
        counts &= model_total(&m).count + m.lost_count == 100000;
        model_close(&m);
    }
    check(weights, "sum of all slots + lost = sum of all input: weight");
    check(counts, "sum of all slots + lost = sum of all input: count");
    check(always, "and at any time between");
}

static bool is_even(const void *context, const struct tally_entry *entry)
{
    unsigned *const *asked = context;

    ++**asked;
    return entry->key % 2 == 0;
}

/* Excluded keys take no slot, and few are checked: a check may read /proc. */
static void tally_leaves_out(void)
{
    struct tally tally = {0};
    const struct tally_entry *top[3];
    unsigned asked = 0, *counter = &asked;

    for (uint64_t key = 1; key <= 3000; key++)
        tally_add(&tally, key, (int64_t)(key * 7919 % 3001), 1);
    size_t n = tally_top(&tally, top, 3, is_even, &counter);
    bool right = n == 3;
    int64_t weight = 3000;
    for (size_t i = 0; right && i < n; i++, weight--) {
        /* The next weight that an even key has. */
        while (weight > 0 && top[i]->weight != weight) {
            for (uint64_t key = 2; key <= 3000; key += 2)
                right = right && tally_find(&tally, key)->weight != weight;
            weight--;
        }
        right = right && weight > 0 && top[i]->key % 2 == 0;
    }
    check(right, "tally: the heaviest of the wanted keys");
    check(asked >= 3 && asked < 200, "tally: %u of 3,000 are asked about", asked);
    tally_free(&tally);
}

static void tally_merges_and_ranks(void)
{
    struct tally tally = {0};
    const struct tally_entry *top[4];
    bool right = true;

    for (uint64_t key = 1; key <= 3000; key++) {
        tally_add(&tally, key, (int64_t)(key * 7919 % 3001), 1);
        tally_add(&tally, key, 10, 2);
    }
    for (uint64_t key = 1; key <= 3000; key++) {
        const struct tally_entry *entry = tally_find(&tally, key);
        right &= entry && entry->weight == (int64_t)(key * 7919 % 3001) + 10 && entry->count == 3;
    }
    check(right, "tally: sums of 3,000 keys");
    check(!tally_find(&tally, 3001), "tally: an unknown key is not found");

    size_t n = tally_top(&tally, top, 4, NULL, NULL);
    right = n == 4;
    for (size_t i = 0; right && i < n; i++)
        right = top[i]->weight ==
                3010 - (int64_t)i; /* k * 7919 mod 3001 takes each of 1..3000 once: 3001 is prime */
    check(right, "tally: the heaviest come first");

    tally_clear(&tally);
    tally_add(&tally, 9, 5, 1);
    tally_add(&tally, 3, 5, 1);
    tally_add(&tally, 4, -1, 0);
    tally_add(&tally, 5, 0, 0);
    n = tally_top(&tally, top, 4, NULL, NULL);
    check(n == 2 && top[0]->key == 3 && top[1]->key == 9, "tally: equals by key; nothing and less is no row");
    check(tally_top(&tally, top, 0, NULL, NULL) == 0, "tally: top 0");
    tally_free(&tally);
    check(tally_top(&tally, top, 4, NULL, NULL) == 0 && !tally_find(&tally, 1),
          "tally: an empty one has no rows");
}

int main(void)
{
    same_key_adds_up();
    stages_fill_in_order();
    lightest_gives_way();
    lighter_newcomer_ages_the_lightest();
    heavy_stays_among_many_light();
    nothing_vanishes();
    tally_merges_and_ranks();
    tally_leaves_out();
    return done();
}
