/* SPDX-License-Identifier: GPL-2.0-only */
#include "history/rotated.h"
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

bool rotated_name(char to[ROTATED_NAME], const char *path, unsigned n)
{
    int length = n ? snprintf(to, ROTATED_NAME, "%s.%u", path, n) : snprintf(to, ROTATED_NAME, "%s", path);

    return length > 0 && length < ROTATED_NAME;
}

int rotated_move(const char *path, unsigned keep)
{
    char from[ROTATED_NAME], to[ROTATED_NAME];
    unsigned last = 0;

    /* Fewer are kept than by the hog before. */
    for (unsigned n = keep + 1; n <= ROTATED_MOST; n++)
        if (rotated_name(to, path, n))
            unlink(to);
    if (!keep)
        return unlink(path) ? -errno : 0;
    while (last < keep && rotated_name(to, path, last) && !access(to, F_OK))
        last++;
    for (; last; last--)
        if (!rotated_name(from, path, last - 1) || !rotated_name(to, path, last))
            return -ENAMETOOLONG;
        else if (rename(from, to))
            return -errno;
    return 0;
}
