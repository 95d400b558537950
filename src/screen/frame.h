/* SPDX-License-Identifier: GPL-2.0-only */
/* A picture in the making: rows of text, of which those go to the terminal that are not on it already. */
#ifndef HOG_SCREEN_FRAME_H
#define HOG_SCREEN_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include "screen/text.h"

struct frame {
    struct screen_text next, shown; /* rows, each with its newline */
    unsigned row, used;             /* rows begun; characters in the last */
    unsigned width, height;
    bool colour;
    bool plain; /* no escapes and no end of rows: for what stays on the terminal */
};

void frame_begin(struct frame *frame, unsigned width, unsigned height, bool plain);

/* Begins a row. False: no room for one above the `kept` last ones. */
bool frame_row(struct frame *frame, unsigned kept);

/* As much as fits into the row. */
void frame_put(struct frame *frame, const char *text, size_t length);
void frame_text(struct frame *frame, const char *text);
void frame_format(struct frame *frame, const char *format, ...) __attribute__((format(printf, 2, 3)));
void frame_blanks(struct frame *frame, unsigned n);

/* Cut or filled to `width` characters. */
void frame_cell(struct frame *frame, const char *text, size_t length, unsigned width, bool left);

enum frame_style {
    STYLE_NONE,
    STYLE_BOLD,
    STYLE_DIM,
    STYLE_UNDERLINED,
    STYLE_REVERSE,
    STYLE_GOOD,
    STYLE_FAIR,
    STYLE_BAD
};
void frame_style(struct frame *frame, enum frame_style style);

/* Writes to stdout what has changed. */
void frame_end(struct frame *frame);

/* What is on the terminal is not known any more. */
void frame_forget(struct frame *frame);
void frame_free(struct frame *frame);

#endif
