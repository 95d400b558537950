/* SPDX-License-Identifier: GPL-2.0-only */
/* Hostile names as they can be shown: whole, or one character at a time for writers without a buffer of fixed
 * size. */
#ifndef HOG_BASE_ESCAPE_H
#define HOG_BASE_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ESCAPE_MAX 16 /* bytes that one character becomes at most: four bytes of UTF-8 as \xNN */

/* Writes the escaped form of the first character of bytes[0..length), length > 0, to `to` (not terminated),
 * its size to *written. Returns how many bytes it took. */
size_t escape_step(const char *bytes, size_t length, char to[ESCAPE_MAX], size_t *written);

/* What stands for a name that must not be written as it is: "-" for an empty one, "\x2d" for one that would
 * pass for unknown; NULL for all others. */
const char *escape_special(const char *bytes, size_t length);

/* Escapes hostile bytes into `to` (size n, always terminated, cut at a whole escape): space, control, DEL,
 * backslash, bytes that are not valid UTF-8, and C1/bidi/zero-width/line-separator code points that could
 * deceive a reader of a terminal become \xNN for each byte. An empty name becomes "-"; a name that is itself
 * "-" becomes \x2d so that it cannot pass for unknown. Returns the length written. */
size_t escape_name(char *to, size_t n, const char *bytes, size_t length);

#endif
