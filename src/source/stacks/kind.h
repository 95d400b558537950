/* SPDX-License-Identifier: GPL-2.0-only */
/* What a task does in a stack, by what the kernel marked at its switch and the function that it sleeps in. */
#ifndef HOG_SOURCE_STACKS_KIND_H
#define HOG_SOURCE_STACKS_KIND_H

#include <stdint.h>

/* What a task does in a stack. */
enum stack_kind {
    STACK_CPU,
    STACK_IO,
    STACK_LOCK,
    STACK_MEMORY, /* reclaims, or waits for a page */
    STACK_NET,
    STACK_WAIT, /* for a time, a child, work to do */
    STACK_KINDS
};
extern const char *const stack_kinds[STACK_KINDS + 1]; /* their words; ends with NULL */

struct stack_frames {
    uint64_t id;
    uint64_t seen; /* window */
    uint32_t n;
    uint64_t *at; /* innermost first */
};

struct hog_stack_key;
struct symbols;

/* kernel NULL: its function is not known. */
enum stack_kind kind_of_stack(const struct hog_stack_key *key, const struct stack_frames *kernel,
                              struct symbols *symbols);

#endif
