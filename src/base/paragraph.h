/* SPDX-License-Identifier: GPL-2.0-only */
/* Sentences that are put together and then wrapped between words. */
#ifndef HOG_BASE_PARAGRAPH_H
#define HOG_BASE_PARAGRAPH_H

#include <stdbool.h>
#include <stddef.h>

#define PARAGRAPH_MOST 2000
#define NO_BREAK       "\x1f" /* a blank at which no line ends; names cannot have it */

struct paragraph {
    char text[PARAGRAPH_MOST]; /* what does not fit is cut */
    size_t length;
};

void paragraph_add(struct paragraph *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A hostile name: blanks and control bytes as \xNN, so that it stays one word. */
void paragraph_name(struct paragraph *p, const char *bytes, size_t length);

/* "1.3 s", "330 ms", "12 us" */
void paragraph_time(struct paragraph *p, double ns);

/* "3.2 GiB", "512 MiB", "4 KiB" */
void paragraph_bytes(struct paragraph *p, double bytes);

/* For a text that is used as it is: its blanks are all alike. */
void paragraph_flatten(struct paragraph *p);

/* Takes a line, without a newline. */
typedef void (*paragraph_line_fn)(void *context, const char *line);

/* Lines of less than `width` bytes; a longer word has a line of its own. A newline in the text begins a line.
 */
void paragraph_wrap(const struct paragraph *p, size_t width, paragraph_line_fn fn, void *context);

#endif
