// SPDX-License-Identifier: GPL-2.0-only
#include "base/glob.h"
#include <string.h>

/* The `]` of a set that begins at p (after its `[`); NULL: none. A `]` that comes first is a member. */
static const char *set_end(const char *p, const char *end)
{
    p += p < end && (*p == '!' || *p == '^');
    p += p < end && *p == ']';
    return memchr(p, ']', (size_t)(end - p));
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

/* One byte against the next place of the pattern, which is not a `*`. NULL: it does not match; else the place
 * after it. */
static const char *step(const char *p, const char *end, unsigned char c)
{
    if (p == end)
        return NULL;
    const char *close = *p == '[' ? set_end(p + 1, end) : NULL;
    if (*p == '?')
        return p + 1;
    if (close)
        return in_set(p + 1, close, c) ? close + 1 : NULL;
    if (*p == '\\' && p + 1 < end)
        p++;
    return (unsigned char)*p == c ? p + 1 : NULL;
}

/* Of several `*` only the last one is tried again: it can take whatever an earlier one could. */
bool glob_part_matches(const char *pattern, size_t n, const char *bytes, size_t length)
{
    const char *pattern_end = pattern + n, *end = bytes + length, *star = NULL, *again = NULL;

    while (bytes < end) {
        if (pattern < pattern_end && *pattern == '*') {
            star = ++pattern;
            again = bytes;
            continue;
        }
        const char *next = step(pattern, pattern_end, (unsigned char)*bytes);
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
    while (pattern < pattern_end && *pattern == '*')
        pattern++;
    return pattern == pattern_end;
}

bool glob_matches(const char *pattern, const char *bytes, size_t length)
{
    return glob_part_matches(pattern, strlen(pattern), bytes, length);
}
