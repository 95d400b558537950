/* SPDX-License-Identifier: GPL-2.0-only */
/* The bytes of a file: in memory, or read in pieces by a function, for files that are large or may shrink. */
#ifndef HOG_LOADER_SPEC_BYTES_H
#define HOG_LOADER_SPEC_BYTES_H

#include <errno.h>
#include <stddef.h>
#include "loader/spec/budget.h"

struct bytes {
    const uint8_t *memory; /* NULL: they are read */
    uint64_t size;
    /* n bytes at an offset, all of them: 0 or -errno. */
    int (*read)(void *file, void *to, size_t n, uint64_t offset);
    void *file;
    struct budget *budget; /* what is read is charged to; NULL: nothing */
};

static inline bool bytes_inside(uint64_t offset, uint64_t length, uint64_t size)
{
    return offset <= size && length <= size - offset;
}

/* n bytes at an offset: where they are in memory, or in `buffer`, read. -EINVAL: they lie outside; -E2BIG:
 * past the budget. */
static inline int bytes_at(const struct bytes *b, uint64_t offset, size_t n, void *buffer, const void **at)
{
    if (!bytes_inside(offset, n, b->size))
        return -EINVAL;
    *at = b->memory ? b->memory + offset : buffer;
    if (b->memory)
        return 0;
    if (b->budget && !budget_bytes(b->budget, n))
        return -E2BIG;
    return b->read ? b->read(b->file, buffer, n, offset) : -EINVAL;
}

#endif
