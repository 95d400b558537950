/* SPDX-License-Identifier: GPL-2.0-only */
/* Hostile names -> bytes that neither forge a column nor reach the terminal. */
#include "base/escape.h"
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Code points that are valid UTF-8 and still deceive: they draw nothing, draw a gap, move what follows, or do
 * not exist. From the Unicode character database: White_Space, Default_Ignorable_Code_Point and Bidi_Control,
 * without the variation selectors (emoji need them), and the few that fonts draw as a blank. Sorted. */
static const struct range {
    uint32_t first, last;
} deceptive[] = {
    {0x0080, 0x00a0},   /* C1 controls, no-break space */
    {0x00ad, 0x00ad},   /* soft hyphen */
    {0x034f, 0x034f},   /* combining grapheme joiner */
    {0x061c, 0x061c},   /* Arabic letter mark */
    {0x115f, 0x1160},   /* Hangul fillers */
    {0x1680, 0x1680},   /* Ogham space */
    {0x17b4, 0x17b5},   /* Khmer inherent vowels */
    {0x180e, 0x180e},   /* Mongolian vowel separator */
    {0x2000, 0x200f},   /* spaces, zero width, direction marks */
    {0x2028, 0x202f},   /* line and paragraph separators, bidi embeddings, narrow no-break space */
    {0x205f, 0x206f},   /* mathematical space, invisible operators, bidi isolates */
    {0x2800, 0x2800},   /* blank Braille pattern */
    {0x3000, 0x3000},   /* ideographic space */
    {0x3164, 0x3164},   /* Hangul filler */
    {0xfdd0, 0xfdef},   /* noncharacters */
    {0xfeff, 0xfeff},   /* byte order mark */
    {0xffa0, 0xffa0},   /* halfwidth Hangul filler */
    {0xfff0, 0xfffb},   /* unassigned ignorables, interlinear annotation */
    {0xfffe, 0xffff},   /* noncharacters */
    {0x1bca0, 0x1bca3}, /* shorthand format controls */
    {0x1d173, 0x1d17a}, /* musical format controls */
    {0xe0000, 0xe00ff}, /* tags */
    {0xe01f0, 0xe0fff}, /* unassigned ignorables */
};

static bool is_deceptive(uint32_t code)
{
    for (size_t i = 0; i < sizeof deceptive / sizeof *deceptive && deceptive[i].first <= code; i++)
        if (code <= deceptive[i].last)
            return true;
    return false;
}

/* Length of the valid UTF-8 sequence of two to four bytes at s, its code point to *code; 0 when there is
 * none. */
static size_t decode(const unsigned char *s, size_t n, uint32_t *code)
{
    size_t length;
    uint32_t least;

    if (s[0] >= 0xc2 && s[0] <= 0xdf) {
        length = 2, least = 0x80, *code = s[0] & 0x1f;
    } else if ((s[0] & 0xf0) == 0xe0) {
        length = 3, least = 0x800, *code = s[0] & 0x0f;
    } else if (s[0] >= 0xf0 && s[0] <= 0xf4) {
        length = 4, least = 0x10000, *code = s[0] & 0x07;
    } else {
        return 0;
    }
    if (n < length)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (s[i] & 0x3f);
    }
    bool surrogate = *code >= 0xd800 && *code <= 0xdfff;
    return *code < least || *code > 0x10ffff || surrogate ? 0 : length;
}

static size_t write_hex(const unsigned char *bytes, size_t n, char *to)
{
    static const char hex[] = "0123456789abcdef";

    for (size_t i = 0; i < n; i++) {
        *to++ = '\\';
        *to++ = 'x';
        *to++ = hex[bytes[i] >> 4];
        *to++ = hex[bytes[i] & 15];
    }
    return 4 * n;
}

size_t escape_step(const char *bytes, size_t length, char to[ESCAPE_MAX], size_t *written)
{
    const unsigned char *s = (const unsigned char *)bytes;
    uint32_t code;

    if (s[0] < 0x80) {
        bool plain = s[0] > ' ' && s[0] != 0x7f && s[0] != '\\';
        *written = plain ? (to[0] = bytes[0], 1) : write_hex(s, 1, to);
        return 1;
    }
    size_t size = decode(s, length, &code);
    if (size && !is_deceptive(code)) {
        memcpy(to, bytes, size);
        *written = size;
        return size;
    }
    if (!size)
        size = 1;
    *written = write_hex(s, size, to);
    return size;
}

const char *escape_special(const char *bytes, size_t length)
{
    if (!length)
        return "-";
    return length == 1 && bytes[0] == '-' ? "\\x2d" : NULL;
}

size_t escape_name(char *to, size_t n, const char *bytes, size_t length)
{
    const char *special = escape_special(bytes, length);
    size_t used = 0;

    if (!n)
        return 0;
    if (special) {
        used = strlen(special) < n ? strlen(special) : 0;
        memcpy(to, special, used);
        length = 0;
    }
    while (length) {
        char step[ESCAPE_MAX];
        size_t written, taken = escape_step(bytes, length, step, &written);
        if (written >= n - used)
            break;
        memcpy(to + used, step, written);
        used += written;
        bytes += taken;
        length -= taken;
    }
    to[used] = '\0';
    return used;
}
