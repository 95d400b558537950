/* SPDX-License-Identifier: GPL-2.0-only */
/* What a user typed, as it can be shown in an error line. */
#ifndef HOG_SHOWN_H
#define HOG_SHOWN_H

#include <stddef.h>

struct shown {
    char text[64]; /* escaped, and cut if it is long */
};

struct shown show_bytes(const char *bytes, size_t length);
struct shown show(const char *word);

#endif
