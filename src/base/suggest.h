/* SPDX-License-Identifier: GPL-2.0-only */
/* "Did you mean ...?" */
#ifndef HOG_BASE_SUGGEST_H
#define HOG_BASE_SUGGEST_H

#include <stddef.h>

#define SLIPS        2  /* so many slips of the finger are forgiven */
#define LONGEST_NAME 32 /* of what can be suggested */

struct suggestion {
    const char *name; /* NULL: none is near */
    char word[LONGEST_NAME];
    size_t slips; /* a nearer one must have fewer */
};

/* Begins: what was typed, and how many slips (insertions, deletions, substitutions) away a name may be. */
struct suggestion suggest(const char *word, size_t length, size_t slips);

/* Takes the name if it is nearer than the one before. */
void suggest_consider(struct suggestion *suggestion, const char *name);

#endif
