/* SPDX-License-Identifier: GPL-2.0-only */
/* Sentences: what they are made of, and how they are wrapped. */
#include "base/paragraph.h"
#include "tests/unit/tap.h"
#include <string.h>

static char lines[4096];
static size_t widest;

static void take(void *context, const char *line)
{
    strcat(strcat(lines, line), "|");
    widest = strlen(line) > widest ? strlen(line) : widest;
}

static const char *wrapped(const struct paragraph *p, size_t width)
{
    lines[0] = '\0';
    widest = 0;
    paragraph_wrap(p, width, take, NULL);
    return lines;
}

static void check_wrap(void)
{
    struct paragraph p = {.length = 0};

    check(!*wrapped(&p, 10), "nothing is no line");
    paragraph_add(&p, "one two three");
    check(!strcmp(wrapped(&p, 8), "one two|three|"), "lines of less than the width: %s", lines);
    check(!strcmp(wrapped(&p, 7), "one|two|three|"), "one byte less takes one word less: %s", lines);
    check(!strcmp(wrapped(&p, 3), "one|two|three|"), "a word that is too long has a line of its own: %s",
          lines);
    paragraph_add(&p, "\nNext: four");
    check(!strcmp(wrapped(&p, 40), "one two three|Next: four|"), "a newline begins a line: %s", lines);
}

static void check_values(void)
{
    struct paragraph p = {.length = 0};

    paragraph_time(&p, 1.34e9);
    paragraph_add(&p, " ");
    paragraph_time(&p, 330e6);
    paragraph_add(&p, " ");
    paragraph_time(&p, 12e3);
    paragraph_add(&p, " ");
    paragraph_time(&p, 61e9);
    check(!strcmp(wrapped(&p, 8), "1.3 s|330 ms|12 us|61 s|"), "no line ends within a time: %s", lines);
    paragraph_flatten(&p);
    check(!strcmp(p.text, "1.3 s 330 ms 12 us 61 s"), "without wrapping its blanks are blanks: %s", p.text);
    p = (struct paragraph){.length = 0};
    paragraph_bytes(&p, 4096);
    paragraph_add(&p, " ");
    paragraph_bytes(&p, 512 << 20);
    paragraph_add(&p, " ");
    paragraph_bytes(&p, 3.2 * (1 << 30));
    paragraph_flatten(&p);
    check(!strcmp(p.text, "4 KiB 512 MiB 3.2 GiB"), "bytes: %s", p.text);
}

static void check_names(void)
{
    struct paragraph p = {.length = 0};

    paragraph_name(&p, "a b\n\x1f\033[2J", 9);
    check(!strchr(p.text, ' ') && !strchr(p.text, '\x1f') && !strchr(p.text, '\n') && !strchr(p.text, '\033'),
          "a name is one word, without controls: %s", p.text);
    for (int i = 0; i < 3000; i++)
        paragraph_add(&p, "word ");
    check(p.length == sizeof p.text - 1 && strlen(p.text) == p.length, "what does not fit is cut");
    paragraph_name(&p, "name", 4);
    check(p.length == sizeof p.text - 1, "a name, too");
    wrapped(&p, 80);
    check(widest < 80, "a long text in lines of less than 80: %zu", widest);
}

int main(void)
{
    check_wrap();
    check_values();
    check_names();
    return done();
}
