/* SPDX-License-Identifier: GPL-2.0-only */
/* hog hog help thresholds */
#ifndef HOG_CLI_THRESHOLDS_PRINT_H
#define HOG_CLI_THRESHOLDS_PRINT_H

#include "verdict/thresholds.h"

/* Writes a file that thresholds_read() takes, with comments. 0 or -errno. */
int thresholds_print(const struct thresholds *t, int fd);

#endif
