/* SPDX-License-Identifier: GPL-2.0-only */
/* Energy is divided to the microjoule. */
#include "source/power/split.h"
#include "tests/unit/tap.h"
#include <inttypes.h>

static uint64_t state = 88172645463325252u;

static uint64_t any(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

#define MOST 200

/* Random weights and energies of all sizes: the sum is the energy, and no share is off by more than 1 uJ. */
static void check_random(void)
{
    unsigned sums = 0, off = 0;

    for (int round = 0; round < 20000; round++) {
        unsigned n = 1 + any() % MOST, bits = any() % 56;
        uint64_t uj = any() >> (1 + any() % 63), weights[MOST], given = 0;
        unsigned __int128 whole = 0;
        for (unsigned i = 0; i < n; i++)
            whole += weights[i] = any() >> (63 - bits);
        struct split split = split_begin(uj, whole);
        for (unsigned i = 0; i < n; i++) {
            uint64_t share = split_next(&split, weights[i]);
            long double exact = whole ? (long double)uj * (long double)weights[i] / (long double)whole : 0;
            long double error = (long double)share - exact;
            off += error < -1.0001L - exact * 1e-15L || error > 1.0001L + exact * 1e-15L;
            given += share;
        }
        sums += whole ? given != uj || split_rest(&split) : given != 0 || split_rest(&split) != uj;
    }
    check(!sums, "shares add up to the energy: %u sums do not", sums);
    check(!off, "each share is right to 1 uJ: %u are not", off);
}

static void check_extremes(void)
{
    unsigned __int128 huge = (unsigned __int128)1 << 100;
    struct split split = split_begin(UINT64_MAX, 3 * huge);
    uint64_t a = split_next(&split, huge), b = split_next(&split, 2 * huge);

    check(a == UINT64_MAX / 3 && a + b == UINT64_MAX, "weights of 100 bits: %" PRIu64 " and %" PRIu64, a, b);
    split = split_begin(100, 10);
    check(split_next(&split, 4) == 40 && split_next(&split, 100) == 60 && split_next(&split, 1) == 0,
          "more weights than there are get no more than there is");
    split = split_begin(100, 0);
    check(split_next(&split, 4) == 0 && split_rest(&split) == 100, "without weights no task gets energy");
    split = split_begin(0, 10);
    check(split_next(&split, 10) == 0 && split_rest(&split) == 0, "nothing can be shared, too");
}

int main(void)
{
    check_random();
    check_extremes();
    return done();
}
