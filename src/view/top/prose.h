/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOG_VIEW_TOP_PROSE_H
#define HOG_VIEW_TOP_PROSE_H

#include "base/paragraph.h"
#include "view/top/state.h"

#define PROSE_WIDTH 80

/* Calls fn with each line, of less than 80 characters. After ranking. */
void top_prose(const struct top *top, const struct judged_process *process, paragraph_line_fn fn,
               void *context);

/* The same of all processes that were asked for, together, where they are several. How many paragraphs. */
size_t top_prose_of_all(const struct top *top, paragraph_line_fn fn, void *context);

#endif
