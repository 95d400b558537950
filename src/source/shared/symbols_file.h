/* SPDX-License-Identifier: GPL-2.0-only */
/* Answers questions about the functions of one file, in one pass over its symbols. Called in the child of a
 * file reader. */
#ifndef HOG_SOURCE_SHARED_SYMBOLS_FILE_H
#define HOG_SOURCE_SHARED_SYMBOLS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"
#include "source/shared/symbol_name.h"

#define SYMBOLS_ASKED 256 /* questions at a time */

struct symbols_asked {
    uint64_t at[SYMBOLS_ASKED]; /* ascending: offsets in the file; for maps of JITs, addresses */
    size_t n;
    /* What it must be: */
    uint64_t device, inode; /* 0: any */
    const char *debug[3];   /* directories of files by build id; ends with NULL */
    bool jit;               /* a map that a JIT wrote, */
    uint32_t uid;           /* which must have this owner */
};

struct symbols_answer {
    char names[SYMBOLS_ASKED][SYMBOL_NAME]; /* "": none spans it */
};

/* path leads to the open file. 0, or -errno with a reason. */
int symbols_answer(const char *path, const struct symbols_asked *asked, struct symbols_answer *answer,
                   struct error *why);

#endif
