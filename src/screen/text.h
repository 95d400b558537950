/* SPDX-License-Identifier: GPL-2.0-only */
/* Bytes that grow. */
#ifndef HOG_SCREEN_TEXT_H
#define HOG_SCREEN_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct screen_text {
    char *bytes; /* NUL-terminated, or NULL */
    size_t length, room;
};

/* False: no memory, or more than a screen can be about. Nothing is added then. */
bool text_add(struct screen_text *text, const char *bytes, size_t n);

/* Characters of UTF-8, not bytes. */
unsigned text_characters(const char *bytes, size_t length);

struct text_field {
    const char *bytes;
    size_t length;
};

/* The first `most` fields of a line of tabs, or all; how many. */
unsigned text_fields(const char *line, unsigned most, struct text_field fields[]);

/* A field of a line of tabs, 0 being the first. Its length. */
size_t text_field(const char *line, unsigned i, const char **field);

/* Bytes of the row that begins here: up to its end, or to a blank where the terminal ends. */
size_t text_row(const char *text, unsigned width);

/* The value of NAME=VALUE in a line of tabs or blanks. False: the line has no such field. */
bool text_value(const char *line, const char *name, const char **value, size_t *length);

#endif
