/* SPDX-License-Identifier: GPL-2.0-only */
/* Old blocks, by the call stack that allocated them. */
#ifndef HOG_SOURCE_HEAP_LEAKS_H
#define HOG_SOURCE_HEAP_LEAKS_H

#include "source/heap/heap.h"

struct leaks;

struct leaks *leaks_open(struct heaps *heaps); /* `heaps` must outlive it. NULL: out of memory */
int leaks_collect(struct leaks *leaks, uint64_t now, struct error *why);

/* A call stack with blocks that are old enough. */
struct leak {
    const struct heap *heap;
    uint64_t bytes, blocks, age_ns; /* age: of the oldest block */
    char stack[4096];               /* "inner;outer"; "": unknown */
};

/* How many there are, at most -k, largest first. Names their functions. */
size_t leaks_top(struct leaks *leaks);

/* The i-th of these; false: its heap is gone. */
bool leaks_at(struct leaks *leaks, size_t i, uint64_t now, struct leak *leak);
/* All of the window are named: files are closed. */
void leaks_named(struct leaks *leaks);
uint64_t leaks_lost(const struct leaks *leaks); /* blocks of the window that are in none of them */
void leaks_close(struct leaks *leaks);

#endif
