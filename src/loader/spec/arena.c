/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/spec/arena.h"
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Under the address sanitizer each allocation gets a block of its own, so that an overrun is seen. */
#ifdef __SANITIZE_ADDRESS__
#define BLOCK_SIZE 0
#else
#define BLOCK_SIZE 4064
#endif

struct arena_block {
    struct arena_block *next;
    size_t size, used;
    size_t unused; /* keeps the contents aligned to 16 */
    char bytes[];
};

void *arena_alloc(struct arena *arena, size_t count, size_t size)
{
    size_t n;
    if (__builtin_mul_overflow(count, size, &n) || n > SIZE_MAX / 2)
        return NULL;
    n = n ? (n + 15) & ~(size_t)15 : 16;
    if (arena->budget && !budget_bytes(arena->budget, n))
        return NULL;
    struct arena_block *block = arena->blocks;
    if (!block || block->size - block->used < n) {
        size_t room = n > BLOCK_SIZE / 4 ? n : BLOCK_SIZE;
        block = calloc(1, sizeof *block + room);
        if (!block)
            return NULL;
        block->size = room;
        /* A large one is full at once: keep filling the block that was current. */
        if (arena->blocks && room == n) {
            block->next = arena->blocks->next;
            arena->blocks->next = block;
        } else {
            block->next = arena->blocks;
            arena->blocks = block;
        }
    }
    void *p = block->bytes + block->used;
    block->used += n;
    return p;
}

void *arena_grow(struct arena *arena, void *array, size_t n, size_t size)
{
    if (n & (n - 1))
        return array;
    void *all = arena_alloc(arena, n ? n * 2 : 1, size);
    if (all && n)
        memcpy(all, array, n * size);
    return all;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = n < 0 ? NULL : arena_alloc(arena, (size_t)n + 1, 1);
    if (text)
        vsnprintf(text, (size_t)n + 1, format, again);
    va_end(again);
    return text;
}

void arena_free(struct arena *arena)
{
    while (arena->blocks) {
        struct arena_block *next = arena->blocks->next;
        free(arena->blocks);
        arena->blocks = next;
    }
}
