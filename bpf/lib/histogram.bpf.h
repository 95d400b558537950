/* SPDX-License-Identifier: GPL-2.0-only */
/* Histograms of times: eight buckets per octave, so that the middle of a bucket is within 6.25 % of each of
 * its values (below 128 ns: within 8 ns). User space's part is src/source/shared/histogram. */
#ifndef HOG_BPF_LIB_HISTOGRAM_H
#define HOG_BPF_LIB_HISTOGRAM_H

#include "kernel/helpers.bpf.h"

enum hog_histogram_layout {
    HOG_HISTOGRAM_UNIT = 4,      /* log2 of the unit in ns */
    HOG_HISTOGRAM_OCTAVE = 8,    /* buckets per octave; the first two octaves have a bucket per unit */
    HOG_HISTOGRAM_BUCKETS = 240, /* up to 2^32 units: 68 s */
};
const volatile enum hog_histogram_layout histogram_layout = HOG_HISTOGRAM_UNIT;

/* Longer times go to the last bucket. Halves the number of units until it is below 16, in five branchless
 * steps, as there is no instruction that counts leading zeros. */
static __always_inline u32 histogram_bucket(u64 ns)
{
    u64 v = ns >> HOG_HISTOGRAM_UNIT, octave = 0;

    v = choose(is_less(0xffffffff, v), 0xffffffff, v);
#pragma unroll
    for (u32 halvings = 16; halvings; halvings /= 2) {
        u64 times = is_less((16 << (halvings - 1)) - 1, v) * halvings;
        v >>= times;
        octave += times;
    }
    return octave * HOG_HISTOGRAM_OCTAVE + v;
}

#endif
