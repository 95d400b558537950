/* SPDX-License-Identifier: GPL-2.0-only */
/* A recording is FILE and what it was before: FILE.1, older FILE.2, ... */
#ifndef HOG_HISTORY_ROTATED_H
#define HOG_HISTORY_ROTATED_H

#include <stdbool.h>

#define ROTATED_MOST 99
#define ROTATED_NAME 4096

/* "FILE.n", or FILE for 0. false: the name is too long. */
bool rotated_name(char to[ROTATED_NAME], const char *path, unsigned n);

/* Moves FILE to FILE.1 and so on, and removes what is older than FILE.keep. A number that is missing (hog was
 * killed while it moved) is filled. 0 or -errno. */
int rotated_move(const char *path, unsigned keep);

#endif
