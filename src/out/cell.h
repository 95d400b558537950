/* SPDX-License-Identifier: GPL-2.0-only */
/* Numbers and times as text, the same in every format and every locale. */
#ifndef HOG_OUT_CELL_H
#define HOG_OUT_CELL_H

#include "out/out.h"

#define CELL_TEXT 352 /* the longest double has 309 places before the point */

/* Writes the value of a number or time. False (and nothing written) when it is not known or a string. */
bool cell_format(const struct cell *cell, char text[CELL_TEXT]);

#endif
