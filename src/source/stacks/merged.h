/* SPDX-License-Identifier: GPL-2.0-only */
/* The stacks of a window by the names of their functions: those that differ in addresses alone are one. */
#ifndef HOG_SOURCE_STACKS_MERGED_H
#define HOG_SOURCE_STACKS_MERGED_H

#include "base/hash_table.h"
#include "source/stacks/stack_text.h"

struct merge {
    uint32_t kinds;   /* bits of enum stack_kind */
    bool by_function; /* only the innermost function */
};

struct merged_stack {
    uint64_t id;
    uint64_t task, count, ns;
    enum stack_kind kind;
    enum stack_cut cut;
    int call;               /* system call in which it sleeps; -1: none */
    size_t function_length; /* of the innermost function, in text */
    char *text;
};

struct merged_stacks {
    struct hash_table table;
    struct merged_stack *list; /* by time, largest first */
    size_t n;
    uint64_t lost; /* ns of stacks that found no room */
};

/* Of the source's window. 0 or -ENOMEM. */
int merged_stacks_make(struct merged_stacks *merged, struct stacks *stacks, const struct merge *how);
void merged_stacks_free(struct merged_stacks *merged);

#endif
