/* SPDX-License-Identifier: GPL-2.0-only */
/* What one foreign file may cost hog. Its author may want hog to hang or to use up the memory, so every loop
 * with a length that the file decides takes steps, and every allocation takes bytes, from the one budget of
 * that file. */
#ifndef HOG_LOADER_SPEC_BUDGET_H
#define HOG_LOADER_SPEC_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

/* The reason for -E2BIG. */
#define BUDGET_SPENT "more work or memory than a file may cost: it is damaged, or made to cost much"

/* What is left. Once a step or an allocation is refused, `spent` stays set: callers may go on for a while,
 * and the one that reports the error asks budget_spent(). */
struct budget {
    uint64_t steps, bytes;
    bool spent;
};

/* Takes n steps; false: there are not as many left. A step is a record, a symbol, a comparison: some
 * nanoseconds. */
static inline bool budget_steps(struct budget *b, uint64_t n)
{
    if (b->steps < n) {
        b->steps = 0;
        b->spent = true;
        return false;
    }
    b->steps -= n;
    return true;
}

static inline bool budget_bytes(struct budget *b, uint64_t n)
{
    if (b->bytes < n) {
        b->spent = true;
        return false;
    }
    b->bytes -= n;
    return true;
}

#endif
