// SPDX-License-Identifier: GPL-2.0-only
#include "base/glob.h"
#include <string.h>

/* The `]` of a set that begins at p (behind its `[`); NULL: none. A `]` that comes first is a member. */
static const char *set_end(const char *p)
{
    p += *p == '!' || *p == '^';
    p += *p == ']';
    return strchr(p, ']');
}

static bool in_set(const char *p, const char *end, unsigned char c)
{
    bool none = *p == '!' || *p == '^', found = false;

    for (p += none; p < end; p++) {
        unsigned char first = (unsigned char)*p, last = first;
        if (p + 2 < end && p[1] == '-') {
            last = (unsigned char)p[2];
            p += 2;
        }
        found = found || (c >= first && c <= last);
    }
    return found != none;
}

/* One byte against the pattern's next place, which is no `*`. NULL: it does not fit; else what follows. */
static const char *step(const char *p, unsigned char c)
{
    const char *end = *p == '[' ? set_end(p + 1) : NULL;

    if (*p == '?')
        return p + 1;
    if (end)
        return in_set(p + 1, end, c) ? end + 1 : NULL;
    if (*p == '\\' && p[1])
        p++;
    return *p && (unsigned char)*p == c ? p + 1 : NULL;
}

/* Of several `*` only the last one is ever tried again: what an earlier one could take, it can. */
bool glob_matches(const char *pattern, const char *bytes, size_t length)
{
    const char *end = bytes + length, *star = NULL, *again = NULL;

    while (bytes < end) {
        if (*pattern == '*') {
            star = ++pattern;
            again = bytes;
            continue;
        }
        const char *next = step(pattern, (unsigned char)*bytes);
        if (next) {
            pattern = next;
            bytes++;
        } else if (star) {
            pattern = star;
            bytes = ++again;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}
