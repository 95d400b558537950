/* SPDX-License-Identifier: GPL-2.0-only */
/* Numbers as hog itself writes them. strtod() would take 5 KB of the binary. */
#ifndef HOG_BASE_DECIMAL_H
#define HOG_BASE_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>

/* Reads [-]digits[.digits], of 32 characters at most and 9 of them behind the point. False: it is none, and
 * *value is as it was. */
bool decimal_parse(const char *text, size_t length, double *value);

#endif
