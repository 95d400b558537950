/* SPDX-License-Identifier: GPL-2.0-only */
/* The functions of a file that are asked for. */
#ifndef HOG_SOURCE_CALLS_FOUND_H
#define HOG_SOURCE_CALLS_FOUND_H

#include <stddef.h>
#include <stdint.h>
#include "source/calls/rules.h"
#include "base/error.h"

#define MOST_FUNCTIONS 512 /* as hog_functions of bpf/calls/functions.bpf.h has room for */
#define NEAR           4

struct found {
    uint64_t offset;
    int fit; /* the less, the better */
    char name[80];
};

struct all_found {
    const struct calls_options *options;
    struct found *list; /* one for each offset, by offset */
    size_t n, room;
    size_t symbols;      /* that fit */
    char near[NEAR][80]; /* names that resemble what was asked for */
    size_t nnear;
};

/* Fills in the list, which the caller frees. -errno with a reason: the file cannot be read, or is no ELF
 * file; -E2BIG: too many. */
int calls_find(struct all_found *all, const char *path, struct error *why);

/* Where a datatype of that Open MPI has its size, by the types that it has in its file; 0: it is none, or one
 * that nobody knows. */
unsigned calls_datatype_size_at(const char *path);

#endif
