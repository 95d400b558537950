/* SPDX-License-Identifier: GPL-2.0-only */
/* The functions of a file that the patterns select. */
#ifndef HOG_SOURCE_CALLS_FOUND_H
#define HOG_SOURCE_CALLS_FOUND_H

#include <stddef.h>
#include <stdint.h>
#include "source/calls/rules.h"
#include "base/error.h"

#define MOST_FUNCTIONS 512 /* size of hog_functions in bpf/calls/functions.bpf.h */
#define NEAR           4

struct found {
    uint64_t offset;
    int fit; /* lower is better */
    char name[80];
};

struct all_found {
    const struct calls_options *options;
    struct found *list; /* one per offset, sorted by offset */
    size_t n, room;
    size_t symbols;      /* matching symbols */
    char near[NEAR][80]; /* similar names */
    size_t nnear;
};

/* Fills the list; the caller frees it. -errno with a reason: the file cannot be read or is no ELF file;
 * -E2BIG: too many functions. */
int calls_find(struct all_found *all, const char *path, struct error *why);

/* Offset of the size within a datatype of that Open MPI, derived from the types in its file; 0: not Open MPI,
 * or an unknown layout. */
unsigned calls_datatype_size_at(const char *path);

#endif
