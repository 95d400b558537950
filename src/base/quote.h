/* SPDX-License-Identifier: GPL-2.0-only */
/* What a user typed, as it can be shown in an error line. */
#ifndef HOG_BASE_QUOTE_H
#define HOG_BASE_QUOTE_H

#include <stddef.h>

struct quoted {
    char text[64]; /* escaped, and cut if it is long */
};

struct quoted quote_bytes(const char *bytes, size_t length);
struct quoted quote(const char *word);

#endif
