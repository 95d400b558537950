/* SPDX-License-Identifier: GPL-2.0-only */
/* A page of HTML, as it is written. */
#ifndef HOG_HISTORY_PAGE_H
#define HOG_HISTORY_PAGE_H

#include "history/digest.h"
#include "out/lines.h"

struct page {
    struct lines lines;
    const struct digest *d;
};

__attribute__((format(printf, 2, 3))) void page_put(struct page *p, const char *format, ...);

/* A name: first as in all other formats, and then what HTML minds, also in attributes. Spaces may stay. */
void page_name(struct page *p, const char *name);
void page_number(struct page *p, double value, unsigned digits);

#endif
