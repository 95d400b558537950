// SPDX-License-Identifier: GPL-2.0-only
#include "screen/text.h"
#include <stdlib.h>
#include <string.h>

#define MOST_TEXT (512u << 10)

bool text_add(struct screen_text *text, const char *bytes, size_t n)
{
    size_t room = text->room ? text->room : 4096;

    while (room - text->length < n + 1 && room < MOST_TEXT)
        room *= 2;
    if (room - text->length < n + 1)
        return false;
    char *more = room > text->room ? realloc(text->bytes, room) : text->bytes;
    if (!more)
        return false;
    text->bytes = more;
    text->room = room;
    memcpy(more + text->length, bytes, n);
    text->length += n;
    more[text->length] = '\0';
    return true;
}

unsigned text_characters(const char *bytes, size_t length)
{
    unsigned n = 0;

    for (size_t i = 0; i < length; i++)
        n += (bytes[i] & 0xc0) != 0x80;
    return n;
}

unsigned text_fields(const char *line, unsigned most, struct text_field fields[])
{
    unsigned n = 0;

    while (n < most) {
        const char *end = line;
        while (*end && *end != '\t' && *end != '\n')
            end++;
        fields[n++] = (struct text_field){line, (size_t)(end - line)};
        if (*end != '\t')
            break;
        line = end + 1;
    }
    return n;
}

size_t text_field(const char *line, unsigned i, const char **field)
{
    const char *end = line;

    for (;; i--, line = ++end) {
        while (*end && *end != '\t' && *end != '\n')
            end++;
        *field = i ? end : line;
        if (!i || *end != '\t')
            return i ? 0 : (size_t)(end - line);
    }
}

size_t text_row(const char *text, unsigned width)
{
    size_t n = strcspn(text, "\t\n"), at = n > width ? width : n;

    while (at < n && at && text[at] != ' ')
        at--;
    return at ? at : n;
}

bool text_value(const char *line, const char *name, const char **value, size_t *length)
{
    size_t n = strlen(name);

    for (const char *p = line; *p && *p != '\n'; p += strspn(p, "\t ")) {
        if (!strncmp(p, name, n) && p[n] == '=') {
            *value = p + n + 1;
            *length = strcspn(*value, "\t \n");
            return true;
        }
        p += strcspn(p, "\t \n");
    }
    return false;
}
