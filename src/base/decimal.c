/* SPDX-License-Identifier: GPL-2.0-only */
#include "base/decimal.h"

#define MOST 32

bool decimal_parse(const char *text, size_t length, double *value)
{
    static const double scale[] = {1, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9};
    const char *p = text, *end = text + length, *point = NULL;
    bool negative = length && *p == '-';
    double sum = 0;

    p += negative;
    if (p == end || length > MOST || (*p == '.' && p + 1 == end))
        return false;
    for (; p < end; p++) {
        if (*p == '.' && !point)
            point = p;
        else if (*p >= '0' && *p <= '9')
            sum = sum * 10 + (*p - '0');
        else
            return false;
    }
    size_t digits = point ? (size_t)(end - point) - 1 : 0;
    if (digits >= sizeof scale / sizeof *scale)
        return false;
    sum *= scale[digits];
    *value = negative ? -sum : sum;
    return true;
}
