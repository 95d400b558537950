/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Histograms of times: eight buckets an octave, so that the middle of a bucket is at most 6.25 % from
 * whatever is in it (below 128 ns: 8 ns). The reader's side is src/sketch/histogram.
 */
#ifndef HOG_HISTOGRAM_BPF_H
#define HOG_HISTOGRAM_BPF_H

#include "helpers.bpf.h"

enum hog_histogram_layout {
    HOG_HISTOGRAM_UNIT = 4,      /* log2 of the ns that all is counted in */
    HOG_HISTOGRAM_OCTAVE = 8,    /* buckets an octave; the first two octaves have a bucket a unit */
    HOG_HISTOGRAM_BUCKETS = 240, /* up to 2^32 units: 68 s */
};
const volatile enum hog_histogram_layout histogram_layout = HOG_HISTOGRAM_UNIT;

/* Longer times go to the last bucket. Halves the number of units until it is below 16, in five steps for want
 * of an instruction that counts leading zeros. */
static __always_inline u32 histogram_bucket(u64 ns)
{
    u64 units = ns >> HOG_HISTOGRAM_UNIT;
    u32 v = units >> 32 ? ~0u : units, octave = 0;

    if (v >> 19) {
        v >>= 16;
        octave += 16;
    }
    if (v >> 11) {
        v >>= 8;
        octave += 8;
    }
    if (v >> 7) {
        v >>= 4;
        octave += 4;
    }
    if (v >> 5) {
        v >>= 2;
        octave += 2;
    }
    if (v >> 4) {
        v >>= 1;
        octave++;
    }
    return octave * HOG_HISTOGRAM_OCTAVE + v;
}

#endif
