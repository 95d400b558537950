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
    struct found list[MOST_FUNCTIONS]; /* one per offset, sorted by offset */
    size_t n;
    size_t symbols;      /* matching symbols */
    char near[NEAR][80]; /* similar names */
    size_t nnear;
    unsigned size_at; /* offset of the size within a datatype of that Open MPI; 0: not Open MPI, or an unknown
                         layout */
};

/* Fills in what calls_options ask for; a file_reader_fn, which writes a struct all_found. > 0: there are
 * functions. -errno with a reason: the file cannot be read or is no ELF file; -EOVERFLOW: too many functions.
 */
int calls_find(const char *path, uint64_t unused, void *answer, struct error *why);

#endif
