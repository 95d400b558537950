/* SPDX-License-Identifier: GPL-2.0-only */
/* hog report --html FILE: one page that needs nothing but itself: no network, and no script but to show
 * values under the pointer. */
#ifndef HOG_HISTORY_HTML_H
#define HOG_HISTORY_HTML_H

#include "history/digest.h"

/* Writes the page, whole or not at all. 0 or -errno. */
int html_write(const char *path, const struct digest *digest, const struct reader *reader);

#endif
