/* SPDX-License-Identifier: GPL-2.0-only */
/* The values of an option that may be repeated: pointers into argv. */
#ifndef HOG_BASE_TEXTS_H
#define HOG_BASE_TEXTS_H

#include <stddef.h>

#define MAX_TEXTS 32

struct texts {
    const char *items[MAX_TEXTS];
    size_t n;
};

#endif
