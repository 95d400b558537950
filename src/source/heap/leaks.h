/* SPDX-License-Identifier: GPL-2.0-only */
/* Blocks that have been there for long, by the functions that asked for them. */
#ifndef HOG_SOURCE_HEAP_LEAKS_H
#define HOG_SOURCE_HEAP_LEAKS_H

#include "out/out.h"
#include "source/heap/heap.h"

struct leaks;

struct leaks *leaks_open(struct heaps *heaps); /* which outlive them. NULL: no memory */
int leaks_collect(struct leaks *leaks, uint64_t now, struct error *why);

/* A place that allocated blocks which are old enough. */
struct leak {
    const struct heap *heap;
    uint64_t bytes, blocks, age_ns; /* age: of the oldest */
    char stack[1024];               /* "inner;outer"; "": not known */
};

/* How many of them there are, up to -k, the largest first. */
size_t leaks_top(struct leaks *leaks);

/* One of these; false: its heap is gone. */
bool leaks_at(struct leaks *leaks, size_t i, uint64_t now, struct leak *leak);
void leaks_close(struct leaks *leaks);

#endif
