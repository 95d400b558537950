/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A harness is one file, tests/fuzz/NAME.c, which defines these two. It works with libFuzzer (`make
 * fuzz-long`) and with tests/fuzz/driver.c (`make test`).
 */
#ifndef HOG_TESTS_FUZZ_FUZZ_H
#define HOG_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Gives a parser these bytes, and checks what comes out. `bytes` is a block of exactly `size` bytes. Returns
 * 0. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* How many inputs were good ones for the parser: a harness that never gets past the first check tests
 * nothing. */
extern uint64_t fuzz_taken;

#define must(what)                                                                                           \
    do {                                                                                                     \
        if (!(what)) {                                                                                       \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what);                                       \
            abort();                                                                                         \
        }                                                                                                    \
    } while (0)

/* Reads all of it, so that the sanitizer sees a pointer or length that is wrong. */
static inline void fuzz_touch(const void *bytes, size_t n)
{
    static volatile uint8_t sum;

    for (size_t i = 0; i < n; i++)
        sum = (uint8_t)(sum + ((const uint8_t *)bytes)[i]);
}

/* Options of the parser that are no part of the input are chosen by this. */
static inline uint32_t fuzz_hash(const uint8_t *bytes, size_t size)
{
    uint32_t hash = 2166136261u; /* FNV-1a */

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 16777619u;
    return hash ^ hash >> 15;
}

/*
 * Makes a host of the input: until files_end() every file that is opened for reading comes from it. A line
 * "@NAME" begins the text of the files with a path that ends in /NAME; the first that fits counts. A line
 * "@@" begins a second state of the host, which files_begin() takes if it is asked for state 1 (without that
 * line they are the same).
 */
void files_begin(const uint8_t *bytes, size_t size, int state);
void files_end(void);

/* Where the text begins, if the input is nothing but one file of that name; 0: it is not. */
size_t files_only(const uint8_t *bytes, size_t size, const char *name);

#endif
