/* SPDX-License-Identifier: GPL-2.0-only */
/* Distributes energy in proportion to weights, in whole microjoules that always add up to the energy: each
 * share is the growth of the rounded-down running sum, and so right to 1 uJ. */
#ifndef HOG_SOURCE_POWER_SPLIT_H
#define HOG_SOURCE_POWER_SPLIT_H

#include <stdint.h>

struct split {
    uint64_t uj, given;
    unsigned __int128 whole, sofar; /* weights */
    unsigned shift;                 /* applied to weights so that products fit */
};

/* whole: the sum of all weights to come; if it is 0, all shares are 0. */
struct split split_begin(uint64_t uj, unsigned __int128 whole);
uint64_t split_next(struct split *s, unsigned __int128 weight); /* the share of `weight`, uJ */
uint64_t split_rest(const struct split *s);                     /* what is left of the energy */

#endif
