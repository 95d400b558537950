/* SPDX-License-Identifier: GPL-2.0-only */
#include "base/duration.h"
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int unit_ns(const char *unit, uint64_t *ns)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {
        {"", 1000000000},  {"ns", 1},          {"us", 1000},         {"ms", 1000000},
        {"s", 1000000000}, {"m", 60000000000}, {"h", 3600000000000}, {"d", 86400000000000},
    };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (!strcmp(unit, units[i].name)) {
            *ns = units[i].ns;
            return 0;
        }
    }
    return -EINVAL;
}

int duration_parse(const char *text, uint64_t *ns)
{
    const char *p = text, *fraction, *end;
    uint64_t whole = 0, part = 0, unit;
    bool fits = true;

    for (; is_digit(*p); p++)
        fits = fits && !__builtin_mul_overflow(whole, 10, &whole) &&
               !__builtin_add_overflow(whole, (uint64_t)(*p - '0'), &whole);
    size_t digits = (size_t)(p - text);
    fraction = p += *p == '.';
    while (is_digit(*p))
        p++;
    end = p;
    digits += (size_t)(end - fraction);
    if (!digits || unit_ns(p, &unit))
        return -EINVAL;
    /* From the last digit to the first: cutting at each step cuts no more than cutting once. */
    while (end > fraction)
        part = (part + (uint64_t)(*--end - '0') * unit) / 10;
    if (!fits || __builtin_mul_overflow(whole, unit, &whole) || __builtin_add_overflow(whole, part, ns))
        return -ERANGE;
    return 0;
}
