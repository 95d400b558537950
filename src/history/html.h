/* SPDX-License-Identifier: GPL-2.0-only */
/* hog report FILE -o html: one page that needs nothing but itself: no network, and no script but to show
 * values under the pointer. */
#ifndef HOG_HISTORY_HTML_H
#define HOG_HISTORY_HTML_H

#include "history/digest.h"

/* 0 or -errno. */
int html_write(int fd, const struct digest *digest, const struct reader *reader);

#endif
