/* SPDX-License-Identifier: GPL-2.0-only */
#include "out/cell.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

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

size_t fields_copy(struct field *to, size_t room, const struct field *from, size_t n)
{
    n = n < room ? n : room;
    memcpy(to, from, n * sizeof *to);
    return n;
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

/* Days since 1970 to a date. Years that begin in March end with the day that not all of them have. */
static void put_date(uint64_t days, char text[CELL_TEXT])
{
    enum { YEARS_400 = 146097, YEARS_100 = 36524, YEARS_4 = 1461, YEAR = 365, MARCH_2000 = 11017 };
    uint64_t since = days + YEARS_400 - MARCH_2000; /* March 1600 */
    unsigned day = (unsigned)(since % YEARS_400);
    unsigned hundreds = day / YEARS_100 < 3 ? day / YEARS_100 : 3;

    day -= hundreds * YEARS_100;
    unsigned fours = day / YEARS_4;
    day %= YEARS_4;
    unsigned ones = day / YEAR < 3 ? day / YEAR : 3;
    day -= ones * YEAR;
    unsigned month = (5 * day + 2) / 153; /* five months from March, or August, are 153 days */
    unsigned year = 1600 + (unsigned)(since / YEARS_400) * 400 + hundreds * 100 + fours * 4 + ones;
    snprintf(text, CELL_TEXT, "%04u-%02u-%02uT", month < 10 ? year : year + 1,
             month < 10 ? month + 3 : month - 9, day - (153 * month + 2) / 5 + 1);
}

/* strftime would bring the C library's time zones with it. */
static void format_time(uint64_t ns, char text[CELL_TEXT])
{
    unsigned second = (unsigned)(ns / 1000000000 % 86400);

    put_date(ns / 1000000000 / 86400, text);
    size_t length = strlen(text);
    snprintf(text + length, CELL_TEXT - length, "%02u:%02u:%02u.%06uZ", second / 3600, second / 60 % 60,
             second % 60, (unsigned)(ns % 1000000000 / 1000));
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
        format_time(cell->u, text);
        return true;
    case CELL_NONE:
    case CELL_UNKNOWN:
    case CELL_STRING:
    case CELL_SENTENCE:
        break;
    }
    return false;
}
