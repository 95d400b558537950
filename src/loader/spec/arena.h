/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory that is given back all at once: what hangs on an object, what was read of the target's types. */
#ifndef HOG_LOADER_SPEC_ARENA_H
#define HOG_LOADER_SPEC_ARENA_H

#include <errno.h>
#include <stddef.h>
#include "loader/spec/budget.h"

struct arena {
    struct arena_block *blocks;
    struct budget *budget; /* what allocations are charged to; NULL: nothing */
};

/* Zeroed, aligned to 16; NULL when out of memory, or of budget, or count * size overflows. Never NULL for a
 * size of 0. */
void *arena_alloc(struct arena *arena, size_t count, size_t size);
char *arena_printf(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Room for one element more of an array that has n: the array itself, or (each time n is a power of two, or
 * 0) a copy of twice the size. NULL as arena_alloc. */
void *arena_grow(struct arena *arena, void *array, size_t n, size_t size);
void arena_free(struct arena *arena);

static inline bool arena_steps(const struct arena *arena, uint64_t n)
{
    return !arena->budget || budget_steps(arena->budget, n);
}

/* Why it gave NULL: -E2BIG or -ENOMEM. */
static inline int arena_error(const struct arena *arena)
{
    return arena->budget && arena->budget->spent ? -E2BIG : -ENOMEM;
}

#endif
