/* SPDX-License-Identifier: GPL-2.0-only */
#include "out/lines.h"
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ENOUGH (64 << 10)
#define FIRST  (4 << 10)

void lines_open(struct lines *lines, int fd)
{
    *lines = (struct lines){.fd = fd};
}

void lines_close(struct lines *lines)
{
    free(lines->bytes);
    *lines = (struct lines){.fd = -1, .error = -EBADF};
}

void lines_fail(struct lines *lines, int error)
{
    if (!lines->error)
        lines->error = error;
    lines->length = lines->complete = 0;
}

/* Writes all n bytes, however small the pieces that the other side takes. */
static int write_all(int fd, const char *bytes, size_t n)
{
    while (n) {
        ssize_t written = write(fd, bytes, n);
        if (written > 0) {
            bytes += written;
            n -= (size_t)written;
        } else if (written == 0) {
            return -EIO;
        } else if (errno == EAGAIN) {
            /* Somebody who shares our stdout made it non-blocking. */
            if (poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1) < 0 && errno != EINTR)
                return -errno;
        } else if (errno != EINTR) {
            return -errno;
        }
    }
    return 0;
}

int lines_flush(struct lines *lines)
{
    if (lines->error)
        return lines->error;
    int error = write_all(lines->fd, lines->bytes, lines->complete);
    if (error) {
        lines_fail(lines, error);
        return error;
    }
    lines->length -= lines->complete;
    if (lines->length)
        memmove(lines->bytes, lines->bytes + lines->complete, lines->length);
    lines->complete = 0;
    return 0;
}

/* Room for n more bytes, or NULL with the error noted: then the lines that were complete are already out. */
static char *reserve(struct lines *lines, size_t n)
{
    if (lines->error)
        return NULL;
    if (n > lines->capacity - lines->length) {
        size_t capacity = lines->capacity ? lines->capacity : FIRST;
        while (capacity - lines->length < n && capacity <= (size_t)-1 / 2)
            capacity *= 2;
        char *bytes = capacity - lines->length < n ? NULL : realloc(lines->bytes, capacity);
        if (!bytes) {
            lines_flush(lines);
            lines_fail(lines, -ENOMEM);
            return NULL;
        }
        lines->bytes = bytes;
        lines->capacity = capacity;
    }
    return lines->bytes + lines->length;
}

void lines_add(struct lines *lines, const char *bytes, size_t n)
{
    char *to = reserve(lines, n);
    if (!to)
        return;
    memcpy(to, bytes, n);
    lines->length += n;
}

void lines_text(struct lines *lines, const char *text)
{
    lines_add(lines, text, strlen(text));
}

void lines_spaces(struct lines *lines, size_t n)
{
    char *to = reserve(lines, n);
    if (!to)
        return;
    memset(to, ' ', n);
    lines->length += n;
}

void lines_indent(struct lines *lines, size_t from, size_t n)
{
    if (!reserve(lines, n) || from > lines->length)
        return;
    memmove(lines->bytes + from + n, lines->bytes + from, lines->length - from);
    memset(lines->bytes + from, ' ', n);
    lines->length += n;
}

void lines_end(struct lines *lines)
{
    lines_add(lines, "\n", 1);
    lines->complete = lines->length;
    if (lines->length >= ENOUGH)
        lines_flush(lines);
}
