/* SPDX-License-Identifier: GPL-2.0-only */
/* Finding in sorted arrays. */
#ifndef HOG_BASE_SEARCH_H
#define HOG_BASE_SEARCH_H

#include <stddef.h>

/* The number of elements of a sorted array that come before what is wanted; compare as for qsort(). */
static inline size_t lower_bound(const void *wanted, const void *array, size_t n, size_t size,
                                 int (*compare)(const void *element, const void *wanted))
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (compare((const char *)array + mid * size, wanted) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

#endif
