// SPDX-License-Identifier: GPL-2.0-only
#include "source/power/split.h"

struct split split_begin(uint64_t uj, unsigned __int128 whole)
{
    struct split s = {.uj = uj, .whole = whole};

    while (whole >> s.shift >> 63)
        s.shift++;
    return s;
}

uint64_t split_next(struct split *s, unsigned __int128 weight)
{
    s->sofar = weight < s->whole - s->sofar ? s->sofar + weight : s->whole;
    if (!s->whole)
        return 0;
    uint64_t total = (uint64_t)(s->uj * (s->sofar >> s->shift) / (s->whole >> s->shift));
    uint64_t share = total - s->given;
    s->given = total;
    return share;
}

uint64_t split_rest(const struct split *s)
{
    return s->uj - s->given;
}
