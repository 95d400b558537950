/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/objrun/kconfig_text.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "tests/objrun/inflate.h"

/* Many times what the largest distribution needs. */
#define LARGEST (4u << 20)

/* All of a file, and a 0. The size that proc and pipes say is not to be relied on. */
static int read_all(int fd, char **out, size_t *size)
{
    size_t have = 0, room = 64 << 10;
    char *bytes = malloc(room + 1);
    while (bytes) {
        ssize_t n = read(fd, bytes + have, room - have);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            int err = -errno;
            free(bytes);
            return err;
        }
        have += (size_t)n;
        if (!n) {
            bytes[have] = 0;
            *out = bytes;
            *size = have;
            return 0;
        }
        if (have < room)
            continue;
        if (room >= LARGEST) {
            free(bytes);
            return -E2BIG;
        }
        room *= 2;
        char *more = realloc(bytes, room + 1);
        if (!more)
            free(bytes);
        bytes = more;
    }
    return -ENOMEM;
}

static int read_config(const char *path, char **text, struct error *why)
{
    char *bytes = NULL;
    size_t size = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int err = fd < 0 ? -errno : read_all(fd, &bytes, &size);
    if (fd >= 0)
        close(fd);
    if (err)
        return error_set(why, err, "%s: %s", path,
                         err == -E2BIG ? "too large for a configuration" : strerror(-err));
    *text = bytes;
    if (size < 2 || memcmp(bytes, "\x1f\x8b", 2))
        return 0;
    struct error reason = {0};
    err = gunzip(bytes, size, LARGEST, text, &size, &reason);
    free(bytes);
    return err ? error_set(why, err, "%s: %s", path, reason.text) : 0;
}

int kconfig_text(const char *path, char **text, struct error *why)
{
    struct utsname host;
    char boot[sizeof host.release + 16];
    if (path)
        return read_config(path, text, why);
    uname(&host);
    snprintf(boot, sizeof boot, "/boot/config-%s", host.release);
    int err = read_config(boot, text, why);
    if (err == -ENOENT)
        err = read_config("/proc/config.gz", text, why);
    return err == -ENOENT ? error_set(why, err, "there is neither %s nor /proc/config.gz", boot) : err;
}
