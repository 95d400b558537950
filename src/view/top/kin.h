/* SPDX-License-Identifier: GPL-2.0-only */
/* Which processes of a window belong together: those that had a CPU, divided into families. Children that
 * have ended count for their nearest ancestor that lives. */
#ifndef HOG_VIEW_TOP_KIN_H
#define HOG_VIEW_TOP_KIN_H

#include "view/top/families.h"
#include "view/top/state.h"

/* Divides the processes of the window, once. False: nothing is known of families here. */
bool kin_find(struct top *top);

/* Of the last division: NULL: it has none. `ended`: the process has ended, and nothing is known of its
 * parent. */
const struct family *kin_of(const struct top *top, uint64_t key, bool *ended);

/* The part that a family has of all that unknown parents started. */
double kin_part_of_unknown(const struct top *top, const struct family *family);

/* "4711/make(41)" */
void kin_name(const struct top *top, const struct family *family, char *to, size_t size);

#endif
