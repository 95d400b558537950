// SPDX-License-Identifier: GPL-2.0-only
#include "out/textfile.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* What would be replaced, also behind a link: /dev/stdout or /dev/null must not become a file. */
static int check(const char *path)
{
    struct stat st;

    if (stat(path, &st) || S_ISREG(st.st_mode))
        return 0;
    return S_ISDIR(st.st_mode) ? -EISDIR : -EEXIST;
}

/* Removes first what a killed hog left there: it is never written through, whichever user made it. */
int textfile_begin(struct textfile *file, const char *path)
{
    int err = check(path);

    if (err)
        return err;
    file->path = path;
    if (snprintf(file->temporary, sizeof file->temporary, "%s.hog-new", path) >= (int)sizeof file->temporary)
        return -ENAMETOOLONG;
    if (unlink(file->temporary) && errno != ENOENT)
        return -errno;
    int fd = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    return fd < 0 ? -errno : fd;
}

int textfile_end(struct textfile *file, int fd, int err)
{
    if (close(fd) && !err)
        err = -errno;
    if (!err && rename(file->temporary, file->path))
        err = -errno;
    if (err)
        unlink(file->temporary);
    return err;
}
