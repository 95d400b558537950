/* SPDX-License-Identifier: GPL-2.0-only */
#include "history/page.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/escape.h"
#include "out/cell.h"

void page_put(struct page *p, const char *format, ...)
{
    char text[640];
    va_list args;

    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    lines_add(&p->lines, text, n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

void page_name(struct page *p, const char *name)
{
    size_t length = strlen(name);

    while (length) {
        char step[ESCAPE_MAX];
        size_t written = 1, taken = 1;
        if (*name == ' ')
            step[0] = ' ';
        else
            taken = escape_step(name, length, step, &written);
        if (written == 1 && strchr("<>&\"'", step[0]))
            page_put(p, "&#%d;", step[0]);
        else
            lines_add(&p->lines, step, written);
        name += taken;
        length -= taken;
    }
}

void page_number(struct page *p, double value, unsigned digits)
{
    const struct cell cell = cell_decimal(value, digits);
    char text[CELL_TEXT];

    lines_text(&p->lines, cell_format(&cell, text) ? text : "-");
}
