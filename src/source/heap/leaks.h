/* SPDX-License-Identifier: GPL-2.0-only */
/* Blocks that have been there for long, by the functions that asked for them. */
#ifndef HOG_SOURCE_HEAP_LEAKS_H
#define HOG_SOURCE_HEAP_LEAKS_H

#include "source/heap/heap.h"

struct leaks;
extern const struct schema leaks_schema;

struct leaks *leaks_open(struct heaps *heaps); /* which outlive them. NULL: no memory */
int leaks_collect(struct leaks *leaks, uint64_t now, struct error *why);
void leaks_rows(struct leaks *leaks, const struct window *window, struct out *out);
void leaks_close(struct leaks *leaks);

#endif
