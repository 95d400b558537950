/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory that is given back all at once: what hangs on an object, what was read of the target's types. */
#ifndef HOG_LOADER_ARENA_H
#define HOG_LOADER_ARENA_H

#include <stddef.h>

struct arena {
    struct arena_block *blocks;
};

/* Zeroed, aligned to 16; NULL when out of memory or count * size overflows. Never NULL for a size of 0. */
void *arena_alloc(struct arena *arena, size_t count, size_t size);
char *arena_printf(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
void arena_free(struct arena *arena);

#endif
