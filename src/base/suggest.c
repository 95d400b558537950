/* SPDX-License-Identifier: GPL-2.0-only */
#include "base/suggest.h"
#include <string.h>

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Levenshtein, with one row of the table. Both are shorter than LONGEST_NAME. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t row[LONGEST_NAME], nb = strlen(b);

    for (size_t j = 0; j <= nb; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            size_t substituted = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = least(substituted, least(row[j], row[j - 1]) + 1);
        }
    }
    return row[nb];
}

struct suggestion suggest(const char *word, size_t length, size_t slips)
{
    struct suggestion suggestion = {.slips = slips + 1};

    /* What is too long to be a slip of any name stays "", which is near to nothing. */
    if (length < sizeof suggestion.word)
        memcpy(suggestion.word, word, length);
    return suggestion;
}

void suggest_consider(struct suggestion *suggestion, const char *name)
{
    size_t length = strlen(name);

    if (length >= LONGEST_NAME)
        return;
    size_t slips = edit_distance(suggestion->word, name);
    if (slips < suggestion->slips && slips < length) {
        suggestion->name = name;
        suggestion->slips = slips;
    }
}
