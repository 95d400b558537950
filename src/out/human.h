/* SPDX-License-Identifier: GPL-2.0-only */
/* Numbers for people: three digits and a unit. */
#ifndef HOG_OUT_HUMAN_H
#define HOG_OUT_HUMAN_H

#include <stdbool.h>
#include "out/column.h"

#define HUMAN_TEXT 32

/* KiB: bytes by powers of 1024 (64M); us, ms: times (1.25ms); percent: 33.3%; counts and rates by powers of
 * 1000. False, and nothing written: any other unit. */
bool human_format(enum column_unit unit, double value, char text[HUMAN_TEXT]);

#endif
