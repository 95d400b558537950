// SPDX-License-Identifier: GPL-2.0-only
/* The sketch's algorithm, on the model: merging, eviction order, and that nothing vanishes unaccounted. That
 * the kernel's side does the same is tests/live/sketch.c. */
#include "../model/hashpipe.h"
#include "tap.h"
#include "sketch/tally.h"

/* The n-th key (from 1) that stage 0 puts where it puts `like`. */
static uint64_t neighbour(const struct model *m, uint64_t like, unsigned n)
{
    for (uint64_t key = like + 1;; key++)
        if (model_index(m, 0, key) == model_index(m, 0, like) && !--n)
            return key;
}

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

static void newcomer_takes_stage_0(void)
{
    struct model m;

    model_open(&m, 2, 8);
    uint64_t a = 7, b = neighbour(&m, a, 1);
    model_add(&m, a, 1000, 1);
    model_add(&m, b, 1, 1);
    check(model_slot(&m, 0, b)->key == b, "the newcomer takes stage 0, however light");
    check(model_slot(&m, 1, a)->key == a && model_slot(&m, 1, a)->weight == 1000,
          "the resident moves to stage 1");
    model_close(&m);
}

/* Two stages of one slot: stage 1 must keep the heavier of resident and comer. */
static void later_stage_keeps_the_heavier(void)
{
    struct model m;

    model_open(&m, 2, 1);
    model_add(&m, 1, 50, 1); /* 1 in stage 0 */
    model_add(&m, 2, 10, 1); /* 2 in stage 0, 1 in stage 1 */
    model_add(&m, 3, 99, 1); /* 3 in stage 0; 2 is lighter than 1: dropped */
    check(m.table[1].key == 1 && m.lost_weight == 10 && m.lost_count == 1, "the lighter comer is dropped");
    model_add(&m, 4, 5, 1); /* 4 in stage 0; 3 is heavier than 1: 1 dropped */
    check(m.table[0].key == 4 && m.table[1].key == 3 && m.lost_weight == 60 && m.lost_count == 2,
          "the lighter resident is dropped");
    model_add(&m, 6, 5, 1); /* 6 in stage 0; 4 dropped */
    model_add(&m, 3, 7, 1); /* 3 in stage 0 again, beside its slot in stage 1; 6 dropped */
    check(m.table[0].key == 3 && m.table[1].key == 3 && model_sum(&m, 3).weight == 99 + 7 &&
              model_sum(&m, 3).count == 2,
          "one key in two stages is merged by the reader");
    model_add(&m, 8, 1, 1); /* kicks 3 out of stage 0: it meets itself in stage 1 */
    check(m.table[1].weight == 106 && m.lost_weight == 70,
          "a key that meets itself in a later stage merges there");
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

    size_t n = tally_top(&tally, top, 4);
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
    n = tally_top(&tally, top, 4);
    check(n == 2 && top[0]->key == 3 && top[1]->key == 9, "tally: equals by key; nothing and less is no row");
    check(tally_top(&tally, top, 0) == 0, "tally: top 0");
    tally_free(&tally);
    check(tally_top(&tally, top, 4) == 0 && !tally_find(&tally, 1), "tally: an empty one has no rows");
}

int main(void)
{
    same_key_adds_up();
    newcomer_takes_stage_0();
    later_stage_keeps_the_heavier();
    nothing_vanishes();
    tally_merges_and_ranks();
    return done();
}
