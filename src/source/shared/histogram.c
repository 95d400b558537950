// SPDX-License-Identifier: GPL-2.0-only
#include "source/shared/histogram.h"
#include "shared.types.h"

_Static_assert(HISTOGRAM_BUCKETS == HOG_HISTOGRAM_BUCKETS, "both sides have the same buckets");

uint64_t histogram_middle(unsigned bucket)
{
    unsigned octave = bucket < 2 * HOG_HISTOGRAM_OCTAVE ? 0 : bucket / HOG_HISTOGRAM_OCTAVE - 1;
    uint64_t low = bucket - octave * HOG_HISTOGRAM_OCTAVE;

    return ((2 * low + 1) << octave << HOG_HISTOGRAM_UNIT) / 2;
}

bool histogram_quantile(const uint32_t counts[HISTOGRAM_BUCKETS], double q, uint64_t *ns)
{
    uint64_t all = 0, below = 0;

    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
        all += counts[i];
    if (!all)
        return false;
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
        below += counts[i];
        if (below && (double)below >= q * (double)all) {
            *ns = histogram_middle(i);
            break;
        }
    }
    return true;
}
