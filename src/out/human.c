// SPDX-License-Identifier: GPL-2.0-only
#include "out/human.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "out/cell.h"

/* What a unit is made of, from the least on. */
struct scale {
    double step;
    const char *units[6];
};
static const struct scale bytes = {1024, {"B", "K", "M", "G", "T", "P"}}, times = {1000, {"us", "ms", "s"}},
                          counts = {1000, {"", "K", "M", "G", "T", "P"}};

static bool ends_with(const char *name, size_t length, const char *end)
{
    size_t n = strlen(end);

    return length >= n && !memcmp(name + length - n, end, n);
}

static bool is_name(const char *name, size_t length, const char *word)
{
    return length == strlen(word) && !memcmp(name, word, length);
}

static bool is_count(const char *name, size_t length)
{
    static const char *const words[] = {"count",  "errors", "entered", "switches", "reads",
                                        "writes", "minor",  "major",   "blocks"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (is_name(name, length, words[i]))
            return true;
    /* of these two _s are seconds */
    return ends_with(name, length, "_count") ||
           (ends_with(name, length, "_s") && !is_name(name, length, "oom_s") &&
            !is_name(name, length, "age_s"));
}

static void put(double value, unsigned digits, const char *unit, char text[HUMAN_TEXT])
{
    const struct cell cell = cell_decimal(value, digits);
    char number[CELL_TEXT];

    if (cell_format(&cell, number))
        snprintf(text, HUMAN_TEXT, "%.20s%s", number, unit);
}

/* Three digits: 999 is the last before the next unit, 9.99 has two behind the point. */
static void scaled(double value, const struct scale *scale, char text[HUMAN_TEXT])
{
    size_t unit = 0, last = sizeof scale->units / sizeof *scale->units - 1;
    double size = fabs(value);

    for (; unit < last && scale->units[unit + 1] && size >= 999.5; unit++) {
        size /= scale->step;
        value /= scale->step;
    }
    put(value, size == rint(size) || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2, scale->units[unit], text);
}

bool human_format(const char *name, size_t length, double value, char text[HUMAN_TEXT])
{
    if (ends_with(name, length, "kib") || ends_with(name, length, "kib_s"))
        scaled(value * 1024, &bytes, text);
    else if (ends_with(name, length, "_us"))
        scaled(value, &times, text);
    else if (ends_with(name, length, "_ms"))
        scaled(value * 1000, &times, text);
    else if (ends_with(name, length, "_pct"))
        put(value, fabs(value) >= 99.95 ? 0 : 1, "%", text);
    else if (is_count(name, length))
        scaled(value, &counts, text);
    else
        return false;
    return true;
}
