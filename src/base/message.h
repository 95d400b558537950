/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages to the user: one line each on stderr. */
#ifndef HOG_BASE_MESSAGE_H
#define HOG_BASE_MESSAGE_H

#include <stddef.h>

/* "hog: ..." */
void message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* From now on lines go there, each with its newline; NULL: to stderr. */
typedef void (*message_fn)(void *context, const char *line, size_t length);
void message_to(message_fn fn, void *context);

#endif
