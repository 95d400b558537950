/* SPDX-License-Identifier: GPL-2.0-only */
#include "out/cell.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define MAX_DIGITS 9

struct cell cell_unknown(void)
{
    return (struct cell){.kind = CELL_UNKNOWN};
}

struct cell cell_unsigned(uint64_t value)
{
    return (struct cell){.kind = CELL_UNSIGNED, .u = value};
}

struct cell cell_signed(int64_t value)
{
    return (struct cell){.kind = CELL_SIGNED, .i = value};
}

struct cell cell_decimal(double value, unsigned digits)
{
    if (!isfinite(value))
        return cell_unknown();
    return (struct cell){.kind = CELL_DECIMAL, .digits = digits, .d = value};
}

struct cell cell_string(const char *text)
{
    if (!text)
        return cell_unknown();
    return (struct cell){.kind = CELL_STRING, .s = {text, strlen(text)}};
}

struct cell cell_sentence(const char *text)
{
    struct cell cell = cell_string(text);

    if (text)
        cell.kind = CELL_SENTENCE;
    return cell;
}

struct cell cell_bytes(const char *bytes, size_t max_length)
{
    if (!bytes)
        return cell_unknown();
    return (struct cell){.kind = CELL_STRING, .s = {bytes, strnlen(bytes, max_length)}};
}

struct cell cell_time(uint64_t ns_since_epoch)
{
    return (struct cell){.kind = CELL_TIME, .u = ns_since_epoch};
}

/* printf takes exact long arithmetic for each value, which was most of what a row cost. Here the product is
 * at most 2^53, and rounds like printf but for values within its last bit of a half. */
#define QUICK_BELOW 1e9
static const uint32_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000};

/* The lowest n digits of value, or all of them if n is 0. Returns their end. */
static char *put_digits(char *to, uint64_t value, unsigned n)
{
    char reversed[20];
    unsigned have = 0;

    do {
        reversed[have++] = (char)('0' + value % 10);
        value /= 10;
    } while (n ? have < n : value > 0);
    while (have)
        *to++ = reversed[--have];
    return to;
}

static void format_quickly(double value, unsigned digits, char text[CELL_TEXT])
{
    uint64_t scaled = (uint64_t)rint(fabs(value) * powers[digits]);

    if (value < 0 && scaled) /* "-0.000" would sort and compare as another value than "0.000" */
        *text++ = '-';
    text = put_digits(text, scaled / powers[digits], 0);
    if (digits) {
        *text++ = '.';
        text = put_digits(text, scaled % powers[digits], digits);
    }
    *text = '\0';
}

static bool format_decimal(double value, unsigned digits, char text[CELL_TEXT])
{
    if (!isfinite(value))
        return false;
    if (fabs(value) < QUICK_BELOW && digits < sizeof powers / sizeof *powers) {
        format_quickly(value, digits, text);
        return true;
    }
    /* musl's printf knows only the point; hog calls no setlocale either. */
    snprintf(text, CELL_TEXT, "%.*f", (int)(digits < MAX_DIGITS ? digits : MAX_DIGITS), value);
    /* "-0.000" would sort and compare as another value than "0.000". */
    if (text[0] == '-' && text[1 + strspn(text + 1, "0.")] == '\0')
        memmove(text, text + 1, strlen(text));
    return true;
}

static bool format_time(uint64_t ns, char text[CELL_TEXT])
{
    time_t seconds = (time_t)(ns / 1000000000);
    struct tm tm;

    if (!gmtime_r(&seconds, &tm))
        return false;
    size_t length = strftime(text, CELL_TEXT, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(text + length, CELL_TEXT - length, ".%06uZ", (unsigned)(ns % 1000000000 / 1000));
    return true;
}

bool cell_format(const struct cell *cell, char text[CELL_TEXT])
{
    switch (cell->kind) {
    case CELL_UNSIGNED:
        snprintf(text, CELL_TEXT, "%" PRIu64, cell->u);
        return true;
    case CELL_SIGNED:
        snprintf(text, CELL_TEXT, "%" PRId64, cell->i);
        return true;
    case CELL_DECIMAL:
        return format_decimal(cell->d, cell->digits, text);
    case CELL_TIME:
        return format_time(cell->u, text);
    case CELL_UNKNOWN:
    case CELL_STRING:
    case CELL_SENTENCE:
        break;
    }
    return false;
}
