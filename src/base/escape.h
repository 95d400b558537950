/* SPDX-License-Identifier: GPL-2.0-only */
/* One character of a hostile name at a time, for writers that cannot use a buffer of fixed size. */
#ifndef HOG_BASE_ESCAPE_H
#define HOG_BASE_ESCAPE_H

#include <stddef.h>

#define ESCAPE_MAX 16 /* bytes that one character becomes at most: four bytes of UTF-8 as \xNN */

/* Writes the escaped form of the first character of bytes[0..length), length > 0, to `to` (not terminated),
 * its size to *written. Returns how many bytes it took. */
size_t escape_step(const char *bytes, size_t length, char to[ESCAPE_MAX], size_t *written);

/* What stands for a name that must not be written as it is: "-" for an empty one, "\x2d" for one that would
 * pass for unknown; NULL for all others. */
const char *escape_special(const char *bytes, size_t length);

#endif
