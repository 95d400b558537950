// SPDX-License-Identifier: GPL-2.0-only
#include "base/paragraph.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/escape.h"

void paragraph_add(struct paragraph *p, const char *format, ...)
{
    va_list arguments;
    size_t room = sizeof p->text - p->length;

    va_start(arguments, format);
    int n = vsnprintf(p->text + p->length, room, format, arguments);
    va_end(arguments);
    if (n > 0)
        p->length += (size_t)n < room ? (size_t)n : room - 1;
}

void paragraph_name(struct paragraph *p, const char *bytes, size_t length)
{
    p->length += escape_name(p->text + p->length, sizeof p->text - p->length, bytes, length);
}

void paragraph_time(struct paragraph *p, double ns)
{
    if (ns >= 1e10)
        paragraph_add(p, "%.0f" NO_BREAK "s", ns / 1e9);
    else if (ns >= 1e9)
        paragraph_add(p, "%.1f" NO_BREAK "s", ns / 1e9);
    else if (ns >= 1e6)
        paragraph_add(p, "%.0f" NO_BREAK "ms", ns / 1e6);
    else
        paragraph_add(p, "%.0f" NO_BREAK "us", ns / 1e3);
}

void paragraph_bytes(struct paragraph *p, double bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;

    for (bytes /= 1024; bytes >= 1000 && unit + 1 < sizeof units / sizeof *units; unit++)
        bytes /= 1024;
    paragraph_add(p, bytes < 10 && unit ? "%.1f" NO_BREAK "%s" : "%.0f" NO_BREAK "%s", bytes, units[unit]);
}

void paragraph_flatten(struct paragraph *p)
{
    for (size_t i = 0; i < p->length; i++)
        if (p->text[i] == *NO_BREAK)
            p->text[i] = ' ';
}

void paragraph_wrap(const struct paragraph *p, size_t width, paragraph_line_fn fn, void *context)
{
    char line[PARAGRAPH_MOST];
    size_t at = 0;

    for (const char *text = p->text; *text;) {
        size_t word = strcspn(text, " \n");
        bool ends = text[word] == '\n';
        if (at && at + 1 + word >= width) {
            line[at] = '\0';
            fn(context, line);
            at = 0;
        }
        if (at)
            line[at++] = ' ';
        for (size_t i = 0; i < word; i++)
            line[at++] = text[i] == *NO_BREAK ? ' ' : text[i];
        text += word + (text[word] != '\0');
        if (!ends && *text)
            continue;
        line[at] = '\0';
        fn(context, line);
        at = 0;
    }
}
