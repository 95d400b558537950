/* SPDX-License-Identifier: GPL-2.0-only */
/* Changes to a text of `length` bytes that is no string yet. They return the new length. */
#ifndef HOG_TESTS_FUZZ_EDITS_H
#define HOG_TESTS_FUZZ_EDITS_H

#include <stddef.h>
#include <string.h>

/* Inserts n bytes at `at`, unless the text would be longer than `most`. */
static size_t edit_insert(char *text, size_t length, size_t most, size_t at, const char *bytes, size_t n)
{
    if (length + n > most)
        return length;
    memmove(text + at + n, text + at, length - at);
    memcpy(text + at, bytes, n);
    return length + n;
}

/* Removes up to n bytes at `at`. */
static size_t edit_remove(char *text, size_t length, size_t at, size_t n)
{
    n = n < length - at ? n : length - at;
    memmove(text + at, text + at + n, length - at - n);
    return length - n;
}

/* Overwrites up to n bytes at `at`. */
static void edit_cover(char *text, size_t length, size_t at, const char *bytes, size_t n)
{
    memcpy(text + at, bytes, n < length - at ? n : length - at);
}

#endif
