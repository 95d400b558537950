/* SPDX-License-Identifier: GPL-2.0-only */
/* Changes to a text of `length` bytes that is no string yet. They return how long it is then. */
#ifndef HOG_TESTS_FUZZ_EDITS_H
#define HOG_TESTS_FUZZ_EDITS_H

#include <stddef.h>
#include <string.h>

/* n bytes from elsewhere come in at `at`, if it is no more than `most` then. */
static size_t edit_insert(char *text, size_t length, size_t most, size_t at, const char *bytes, size_t n)
{
    if (length + n > most)
        return length;
    memmove(text + at + n, text + at, length - at);
    memcpy(text + at, bytes, n);
    return length + n;
}

/* As many of n bytes at `at` go as there are. */
static size_t edit_remove(char *text, size_t length, size_t at, size_t n)
{
    n = n < length - at ? n : length - at;
    memmove(text + at, text + at + n, length - at - n);
    return length - n;
}

/* n bytes go over those at `at`, as far as there are any. */
static void edit_cover(char *text, size_t length, size_t at, const char *bytes, size_t n)
{
    memcpy(text + at, bytes, n < length - at ? n : length - at);
}

#endif
