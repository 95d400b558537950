/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOG_HISTORY_FLAMES_HTML_H
#define HOG_HISTORY_FLAMES_HTML_H

#include "history/page.h"

/* A flame graph of each of the page's trees: SVG that is well-formed XML, and needs no script. */
void flames_html(struct page *p);

#endif
