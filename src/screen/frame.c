// SPDX-License-Identifier: GPL-2.0-only
#include "screen/frame.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "out/lines.h"

void frame_begin(struct frame *f, unsigned width, unsigned height, bool plain)
{
    f->next.length = 0;
    f->row = f->used = 0;
    f->width = width;
    f->height = height;
    f->plain = plain;
}

bool frame_row(struct frame *f, unsigned kept)
{
    if (!f->plain && f->row + kept >= f->height)
        return false;
    if (f->row++)
        text_add(&f->next, "\n", 1);
    f->used = 0;
    return true;
}

void frame_put(struct frame *f, const char *text, size_t length)
{
    unsigned room = f->width > f->used ? f->width - f->used : 0;
    size_t n = 0;

    while (n < length && room) {
        n++;
        while (n < length && (text[n] & 0xc0) == 0x80)
            n++;
        room--;
        f->used++;
    }
    text_add(&f->next, text, n);
}

void frame_text(struct frame *f, const char *text)
{
    frame_put(f, text, strlen(text));
}

void frame_format(struct frame *f, const char *format, ...)
{
    char text[256];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    frame_text(f, text);
}

void frame_blanks(struct frame *f, unsigned n)
{
    static const char blanks[] = "                                ";

    for (; n; n -= n < sizeof blanks - 1 ? n : (unsigned)sizeof blanks - 1)
        frame_put(f, blanks, n < sizeof blanks - 1 ? n : sizeof blanks - 1);
}

void frame_cell(struct frame *f, const char *text, size_t length, unsigned width, bool left)
{
    unsigned used = text_characters(text, length), fill = used < width ? width - used : 0;

    if (used > width)
        for (used = 0, length = 0; used < width; used++)
            for (length++; (text[length] & 0xc0) == 0x80; length++)
                ;
    frame_blanks(f, left ? 0 : fill);
    frame_put(f, text, length);
    frame_blanks(f, left ? fill : 0);
}

void frame_style(struct frame *f, enum frame_style style)
{
    static const char *const escapes[] = {
        [STYLE_NONE] = "\033[0m",         [STYLE_BOLD] = "\033[1m",    [STYLE_DIM] = "\033[2m",
        [STYLE_UNDERLINED] = "\033[1;4m", [STYLE_REVERSE] = "\033[7m", [STYLE_GOOD] = "\033[32m",
        [STYLE_FAIR] = "\033[33m",        [STYLE_BAD] = "\033[31m",
    };

    if (f->colour && !f->plain)
        text_add(&f->next, escapes[style], strlen(escapes[style]));
}

/* A row that is the same at the same place is left as it is. */
static void put_changes(const struct frame *f, struct lines *lines)
{
    const char *now = f->next.length ? f->next.bytes : "", *was = f->shown.length ? f->shown.bytes : "";
    char at[24];

    for (unsigned row = 1; *now || *was; row++) {
        size_t n = strcspn(now, "\n"), m = strcspn(was, "\n");
        bool same = *now && *was && n == m && !memcmp(now, was, n);
        if (!same) {
            snprintf(at, sizeof at, "\033[%u;1H\033[K",
                     row); /* behind a full row it would take the last character */
            lines_text(lines, at);
            lines_add(lines, now, n);
        }
        now += n + (now[n] == '\n');
        was += m + (was[m] == '\n');
    }
}

void frame_end(struct frame *f)
{
    struct lines lines;
    struct screen_text shown = f->shown;

    text_add(&f->next, "\n", 1);
    lines_open(&lines, STDOUT_FILENO);
    if (f->plain) {
        lines_add(&lines, f->next.bytes, f->next.length);
    } else {
        lines_text(&lines, f->shown.length ? "" : "\033[H\033[2J");
        put_changes(f, &lines);
    }
    lines.complete = lines.length;
    lines_flush(&lines);
    lines_close(&lines);
    f->shown = f->next;
    f->next = shown;
}

void frame_forget(struct frame *f)
{
    f->shown.length = 0;
}

void frame_free(struct frame *f)
{
    free(f->next.bytes);
    free(f->shown.bytes);
}
