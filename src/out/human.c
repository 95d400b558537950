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

bool human_format(enum column_unit unit, double value, char text[HUMAN_TEXT])
{
    switch (unit) {
    case UNIT_KIB:
    case UNIT_KIB_PER_S:
        scaled(value * 1024, &bytes, text);
        return true;
    case UNIT_US:
        scaled(value, &times, text);
        return true;
    case UNIT_MS:
        scaled(value * 1000, &times, text);
        return true;
    case UNIT_PCT:
        put(value, fabs(value) >= 99.95 ? 0 : 1, "%", text);
        return true;
    case UNIT_COUNT:
    case UNIT_PER_S:
        scaled(value, &counts, text);
        return true;
    case UNIT_NONE:
    case UNIT_S:
    case UNIT_JOULES:
    case UNIT_WATTS:
    case UNIT_STACK:
    case UNITS:
        break;
    }
    return false;
}
