/* SPDX-License-Identifier: GPL-2.0-only */
/* A file that readers only ever see whole: written under another name, then renamed. */
#ifndef HOG_OUT_TEXTFILE_H
#define HOG_OUT_TEXTFILE_H

#include <limits.h>

struct textfile {
    const char *path;
    char temporary[PATH_MAX];
};

/* fd to write to, or -errno: -EEXIST: it is a device, pipe or socket. */
int textfile_begin(struct textfile *file, const char *path);

/* Closes it. err 0: it takes its place; else it goes. 0 or -errno. */
int textfile_end(struct textfile *file, int fd, int err);

#endif
