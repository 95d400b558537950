/* SPDX-License-Identifier: GPL-2.0-only */
/* Numbers for people: three digits and a unit, by what the column's name says that it is. */
#ifndef HOG_OUT_HUMAN_H
#define HOG_OUT_HUMAN_H

#include <stdbool.h>
#include <stddef.h>

#define HUMAN_TEXT 32

/* _kib: bytes by powers of 1024 (64M); _us, _ms: times (1.25ms); _pct: 33.3%; rates and counts by powers of
 * 1000. False, and nothing written: the column is none of these. */
bool human_format(const char *column, size_t length, double value, char text[HUMAN_TEXT]);

#endif
