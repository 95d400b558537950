/* SPDX-License-Identifier: GPL-2.0-only */
/* Random numbers that are the same everywhere, starting from `state`. */
#ifndef HOG_TESTS_FUZZ_RANDOM_H
#define HOG_TESTS_FUZZ_RANDOM_H

#include <stddef.h>
#include <stdint.h>

static uint64_t state = 88172645463325252u;

/* One below n, by xorshift64; 0 where n is. */
static size_t below(size_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return n ? (size_t)(state >> 32) % n : 0;
}

#endif
