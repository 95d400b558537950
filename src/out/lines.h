/* SPDX-License-Identifier: GPL-2.0-only */
/* Collects lines and writes them out whole. A reader that does not read is waited for; but once SIGINT or
 * SIGTERM is pending (hog blocks them), a reader that has read nothing for a second counts as gone: -EPIPE.
 * Otherwise a pipe that is never emptied could make hog deaf to everything but SIGKILL. */
#ifndef HOG_OUT_LINES_H
#define HOG_OUT_LINES_H

#include <stdbool.h>
#include <stddef.h>

/* What takes the lines in place of a file: whole ones. 0 or -errno. */
struct lines_sink {
    int (*write)(struct lines_sink *sink, const char *bytes, size_t n);
};

/* The first error (-errno) stays: everything after it is dropped. */
struct lines {
    int fd;
    struct lines_sink *sink; /* or NULL */
    int error;
    bool may_block; /* a pipe, a terminal, a socket */
    char *bytes;
    size_t length, capacity;
    size_t complete; /* bytes[0..complete) ends in a newline, or complete is 0 */
};

void lines_open(struct lines *lines, int fd);
void lines_close(struct lines *lines); /* frees; does not flush, does not close the fd */

void lines_add(struct lines *lines, const char *bytes, size_t n);
void lines_text(struct lines *lines, const char *text);
void lines_spaces(struct lines *lines, size_t n);

/* Moves what follows bytes[from] n columns to the right, filling with spaces. */
void lines_indent(struct lines *lines, size_t from, size_t n);

/* Ends the line; writes out when enough has been collected. */
void lines_end(struct lines *lines);

/* Writes all complete lines. 0 or the first error of the stream. */
int lines_flush(struct lines *lines);

/* Notes the first error. */
void lines_fail(struct lines *lines, int error);

#endif
