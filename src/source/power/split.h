/* SPDX-License-Identifier: GPL-2.0-only */
/* Energy shared out in proportion to weights, in whole microjoules whose sum is the energy, always: each
 * share is what the sum so far, cut to a whole number, grows by. So each is right to 1 uJ. */
#ifndef HOG_SOURCE_POWER_SPLIT_H
#define HOG_SOURCE_POWER_SPLIT_H

#include <stdint.h>

struct split {
    uint64_t uj, given;
    unsigned __int128 whole, sofar; /* weights */
    unsigned shift;                 /* what they are cut by, so that products fit */
};

/* whole: the sum of all weights to come; if it is 0, nobody gets anything. */
struct split split_begin(uint64_t uj, unsigned __int128 whole);
uint64_t split_next(struct split *s, unsigned __int128 weight); /* the share of `weight`, uJ */
uint64_t split_rest(const struct split *s);                     /* what is left of the energy */

#endif
