/* SPDX-License-Identifier: GPL-2.0-only */
/* The functions of the kernel, from /proc/kallsyms, read once. */
#ifndef HOG_SOURCE_SHARED_SYMBOLS_KERNEL_H
#define HOG_SOURCE_SHARED_SYMBOLS_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kernel_symbols {
    bool read, hidden; /* hidden: addresses are not shown to us */
    uint64_t base;     /* of the lowest */
    struct kernel_symbol {
        uint32_t at, name; /* from the base; in `names` */
    } * list;              /* by address */
    size_t n, room;
    char *names;
    size_t bytes, names_room;
};

/* The name at an address; NULL: there is none. */
const char *kernel_symbol(struct kernel_symbols *k, uint64_t address);
void kernel_symbols_free(struct kernel_symbols *k);

#endif
