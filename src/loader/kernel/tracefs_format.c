// SPDX-License-Identifier: GPL-2.0-only
#include "loader/kernel/tracefs_format.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "loader/kernel/tracefs.h"

/* A line is "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;"; arrays have "name[16];". */
int format_field(const char *text, const char *field, uint32_t *offset, uint32_t *size)
{
    size_t length = strlen(field);

    for (const char *p = text; (p = strstr(p, field)); p += length) {
        if (p == text || p[-1] != ' ' || (p[length] != ';' && p[length] != '['))
            continue;
        const char *at = strstr(p, ";\toffset:"), *bytes = at ? strstr(at, ";\tsize:") : NULL;
        if (!bytes || strcspn(p, "\n") < (size_t)(bytes - p))
            continue;
        *offset = (uint32_t)strtoul(at + strlen(";\toffset:"), NULL, 10);
        *size = (uint32_t)strtoul(bytes + strlen(";\tsize:"), NULL, 10);
        return 0;
    }
    return -ENOENT;
}

int tracefs_field(const char *event, const char *field, uint32_t *offset, uint32_t *size, struct error *why)
{
    char path[128], text[4096];
    int dir = tracefs_open(why);

    if (dir < 0)
        return dir;
    snprintf(path, sizeof path, "events/%s/format", event);
    int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
    int err = fd < 0 ? -errno : 0;
    close(dir);
    if (err)
        return error_set(why, err, "tracepoint %s: cannot read its format: %s", event, error_name(err));
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    err = format_field(text, field, offset, size);
    return err ? error_set(why, err, "tracepoint %s has no field %s", event, field) : 0;
}
