/* SPDX-License-Identifier: GPL-2.0-only */
/* Hostile names: the output is plain, and shows which bytes the name really has. */
#include "base/escape.h"
#include "out/out.h"
#include "tests/unit/tap.h"
#include <string.h>

#define BYTES(text) text, sizeof text - 1

static const struct {
    const char *what, *bytes;
    size_t length;
    const char *want;
} cases[] = {
    {"plain", BYTES("kworker/0:1-events"), "kworker/0:1-events"},
    {"forged row", BYTES("a b\n\033[31mcpu 1"), "a\\x20b\\x0a\\x1b[31mcpu\\x201"},
    {"empty", BYTES(""), "-"},
    {"minus passes for unknown", BYTES("-"), "\\x2d"},
    {"two minuses", BYTES("--"), "--"},
    {"quotes stay", BYTES("\"'"), "\"'"},
    {"backslash", BYTES("\\"), "\\x5c"},
    {"an escape that is a name", BYTES("\\x41"), "\\x5cx41"},
    {"tab, CR, DEL", BYTES("\t\r\177"), "\\x09\\x0d\\x7f"},
    {"NUL inside", BYTES("a\0b"), "a\\x00b"},
    {"two bytes", BYTES("caf\303\251"), "caf\303\251"},
    {"three bytes", BYTES("\346\227\245\346\234\254"), "\346\227\245\346\234\254"},
    {"four bytes", BYTES("\360\220\200\200"), "\360\220\200\200"},
    {"emoji with variation selector", BYTES("\342\235\244\357\270\217"), "\342\235\244\357\270\217"},
    {"last before the surrogates", BYTES("\355\237\277"), "\355\237\277"},
    {"comm cut inside a character", BYTES("abcdefghijklmn\303"), "abcdefghijklmn\\xc3"},
    {"cut after two of four", BYTES("x\360\237"), "x\\xf0\\x9f"},
    {"lone continuation", BYTES("\200a"), "\\x80a"},
    {"bad second byte keeps the next one", BYTES("\303("), "\\xc3("},
    {"bad third byte", BYTES("\346\227x"), "\\xe6\\x97x"},
    {"never valid", BYTES("\377\376"), "\\xff\\xfe"},
    {"overlong in two", BYTES("\300\257"), "\\xc0\\xaf"},
    {"overlong in two, C1", BYTES("\301\277"), "\\xc1\\xbf"},
    {"overlong in three", BYTES("\340\200\257"), "\\xe0\\x80\\xaf"},
    {"overlong in four", BYTES("\360\200\200\257"), "\\xf0\\x80\\x80\\xaf"},
    {"surrogate", BYTES("\355\240\200"), "\\xed\\xa0\\x80"},
    {"last surrogate", BYTES("\355\277\277"), "\\xed\\xbf\\xbf"},
    {"past U+10FFFF", BYTES("\364\220\200\200"), "\\xf4\\x90\\x80\\x80"},
    {"five bytes", BYTES("\370\210\200\200\200"), "\\xf8\\x88\\x80\\x80\\x80"},
    {"C1 CSI", BYTES("\302\2331m"), "\\xc2\\x9b1m"},
    {"RTL override", BYTES("a\342\200\256b"), "a\\xe2\\x80\\xaeb"},
    {"zero width space", BYTES("a\342\200\213b"), "a\\xe2\\x80\\x8bb"},
    {"byte order mark", BYTES("\357\273\277"), "\\xef\\xbb\\xbf"},
    {"tag", BYTES("\363\240\201\201"), "\\xf3\\xa0\\x81\\x81"},
};

static size_t encode(unsigned code, char *to)
{
    if (code < 0x800)
        return (size_t)sprintf(to, "%c%c", 0xc0 | code >> 6, 0x80 | (code & 63));
    if (code < 0x10000)
        return (size_t)sprintf(to, "%c%c%c", 0xe0 | code >> 12, 0x80 | (code >> 6 & 63), 0x80 | (code & 63));
    return (size_t)sprintf(to, "%c%c%c%c", 0xf0 | code >> 18, 0x80 | (code >> 12 & 63),
                           0x80 | (code >> 6 & 63), 0x80 | (code & 63));
}

/* Whether every code point of first..last comes out as \xNN (or as it is, when not `escaped`). */
static void check_range(const char *what, unsigned first, unsigned last, bool escaped)
{
    unsigned wrong = 0;

    for (unsigned code = first; code <= last; code++) {
        char bytes[8], text[32];
        size_t n = encode(code, bytes), length = escape_name(text, sizeof text, bytes, n);
        bool as_it_is = length == n && !memcmp(text, bytes, n);
        if (escaped ? text[0] != '\\' || length != 4 * n : !as_it_is)
            wrong = wrong ? wrong : code;
    }
    check(!wrong, "%s %s: first wrong U+%04X", what, escaped ? "escaped" : "stay", wrong);
}

static void check_ranges(void)
{
    check_range("C1 controls", 0x80, 0x9f, true);
    check_range("no-break space", 0xa0, 0xa0, true);
    check_range("Latin-1 marks", 0xa1, 0xac, false);
    check_range("Latin letters", 0xae, 0x24f, false);
    check_range("Arabic letter mark", 0x61c, 0x61c, true);
    check_range("Arabic letters", 0x620, 0x64a, false);
    check_range("Ogham space", 0x1680, 0x1680, true);
    check_range("spaces, zero width, LRM, RLM", 0x2000, 0x200f, true);
    check_range("dashes and bullets", 0x2010, 0x2027, false);
    check_range("line separators, embeddings, narrow space", 0x2028, 0x202f, true);
    check_range("per mille and after", 0x2030, 0x205e, false);
    check_range("mathematical space, word joiner, isolates", 0x205f, 0x2069, true);
    check_range("superscripts", 0x2070, 0x2071, false);
    check_range("ideographic space", 0x3000, 0x3000, true);
    check_range("CJK", 0x4e00, 0x9fff, false);
    check_range("Hangul", 0xac00, 0xd7a3, false);
    check_range("variation selectors", 0xfe00, 0xfe0f, false);
    check_range("zero width no-break space", 0xfeff, 0xfeff, true);
    check_range("emoji", 0x1f600, 0x1f64f, false);
    check_range("tags", 0xe0000, 0xe007f, true);
    check_range("more variation selectors", 0xe0100, 0xe01ef, false);
}

/* Any size of buffer: terminated, not overrun, cut between whole escapes. */
static void check_cut(void)
{
    static const char name[] = "a \303\251\377", *const cuts[] = {"",
                                                                  "",
                                                                  "a",
                                                                  "a",
                                                                  "a",
                                                                  "a",
                                                                  "a\\x20",
                                                                  "a\\x20",
                                                                  "a\\x20\303\251",
                                                                  "a\\x20\303\251",
                                                                  "a\\x20\303\251",
                                                                  "a\\x20\303\251",
                                                                  "a\\x20\303\251\\xff"};

    for (size_t n = 0; n < sizeof cuts / sizeof *cuts; n++) {
        char text[32];
        memset(text, '#', sizeof text);
        size_t length = escape_name(text, n, name, sizeof name - 1);
        bool right = n == 0 ? length == 0 && text[0] == '#'
                            : length == strlen(cuts[n]) && !strcmp(text, cuts[n]) && text[n] == '#';
        check(right, "cut to %zu: got %zu bytes", n, length);
    }
    char text[4];
    check(escape_name(text, sizeof text, "-", 1) == 0 && !text[0], "an escape that does not fit is left out");
}

int main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[128];
        size_t length = escape_name(text, sizeof text, cases[i].bytes, cases[i].length);
        check(!strcmp(text, cases[i].want) && length == strlen(text), "%s: %zu bytes", cases[i].what, length);
    }
    check_ranges();
    check_cut();
    return done();
}
