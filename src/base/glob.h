/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOG_BASE_GLOB_H
#define HOG_BASE_GLOB_H

#include <stdbool.h>
#include <stddef.h>

/* Whether all of bytes[0..length) fits the pattern: `*` any bytes, `?` any one byte, `[a-z]` and `[!a-z]` one
 * byte of a set or of none, `\` takes what follows as it is; a `[` that nothing closes is itself. Time: at
 * most the product of both lengths. */
bool glob_matches(const char *pattern, const char *bytes, size_t length);
/* The same with the first n bytes of a pattern, as in a list of them. */
bool glob_part_matches(const char *pattern, size_t n, const char *bytes, size_t length);

#endif
