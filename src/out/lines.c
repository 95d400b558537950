/* SPDX-License-Identifier: GPL-2.0-only */
#include "out/lines.h"
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENOUGH (64 << 10)
#define FIRST  (4 << 10)

#define STEP_MS     100
#define PATIENCE_MS 1000

void lines_open(struct lines *lines, int fd)
{
    struct stat st;

    *lines = (struct lines){.fd = fd, .may_block = !fstat(fd, &st) && !S_ISREG(st.st_mode)};
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

static bool asked_to_end(void)
{
    sigset_t pending;

    return !sigpending(&pending) &&
           (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1);
}

static int wait_for_reader(int fd)
{
    struct pollfd reader = {.fd = fd, .events = POLLOUT};

    for (int waited = 0;; waited += STEP_MS) {
        int n = poll(&reader, 1, STEP_MS);
        if (n < 0 && errno != EINTR)
            return -errno;
        if (n > 0)
            return 0; /* also when the reader has gone: write() says it better */
        if (n == 0 && waited >= PATIENCE_MS && asked_to_end())
            return -EPIPE;
    }
}

/* A pipe takes up to PIPE_BUF at once or not at all, and poll() promises room for no more: whole lines of no
 * more, and nothing that stops us tears a line, not even SIGKILL. */
static size_t piece(const struct lines *lines, const char *bytes, size_t n)
{
    if (!lines->may_block || n <= PIPE_BUF)
        return n;
    const char *newline = memrchr(bytes, '\n', PIPE_BUF);
    return newline ? (size_t)(newline - bytes) + 1 : PIPE_BUF;
}

/* Writes all n bytes, however small the pieces that the other side takes. */
static int write_all(const struct lines *lines, const char *bytes, size_t n)
{
    while (n) {
        int error = lines->may_block ? wait_for_reader(lines->fd) : 0;
        if (error)
            return error;
        ssize_t written = write(lines->fd, bytes, piece(lines, bytes, n));
        if (written > 0) {
            bytes += written;
            n -= (size_t)written;
        } else if (written == 0) {
            return -EIO;
        } else if (errno != EINTR && !(errno == EAGAIN && lines->may_block)) {
            return -errno; /* EAGAIN: another process that shares our stdout made it non-blocking */
        }
    }
    return 0;
}

int lines_flush(struct lines *lines)
{
    if (lines->error)
        return lines->error;
    int error = lines->sink ? lines->sink->write(lines->sink, lines->bytes, lines->complete)
                            : write_all(lines, lines->bytes, lines->complete);
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
