/* SPDX-License-Identifier: GPL-2.0-only */
/* One value in each format: escaped, quoted where the format wants it, and what stands for one that is not
 * known. */
#ifndef HOG_OUT_VALUE_H
#define HOG_OUT_VALUE_H

#include "out/cell.h"
#include "out/lines.h"
#include "out/format.h"

void value_put(struct lines *lines, enum out_format format, const struct cell *cell);

/* Words with blanks between them, which stay as they are. Unquoted. */
void value_sentence(struct lines *lines, enum out_format format, const char *text);

#endif
