/* SPDX-License-Identifier: GPL-2.0-only */
#include "history/when.h"
#include "base/duration.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECOND UINT64_C(1000000000)
#define DAY_S  86400

struct text {
    const char *at, *end;
};

/* So many digits, up to `most`. */
static bool take_number(struct text *t, unsigned digits, unsigned least, unsigned most, unsigned *value)
{
    *value = 0;
    for (; digits; digits--) {
        if (t->at == t->end || *t->at < '0' || *t->at > '9')
            return false;
        *value = *value * 10 + (unsigned)(*t->at++ - '0');
    }
    return *value >= least && *value <= most;
}

static bool take(struct text *t, char c)
{
    if (t->at == t->end || *t->at != c)
        return false;
    t->at++;
    return true;
}

static bool take_word(struct text *t, const char *word)
{
    size_t n = strlen(word);

    if ((size_t)(t->end - t->at) < n || memcmp(t->at, word, n) != 0)
        return false;
    t->at += n;
    return true;
}

/* HH[:MM[:SS[.fraction]]] */
static bool take_time(struct text *t, uint64_t *ns)
{
    unsigned hours, minutes = 0, seconds = 0;
    uint64_t unit = SECOND;

    if (!take_number(t, 2, 0, 23, &hours) || (take(t, ':') && !take_number(t, 2, 0, 59, &minutes)) ||
        (take(t, ':') && !take_number(t, 2, 0, 60, &seconds)))
        return false;
    *ns = ((hours * UINT64_C(60) + minutes) * 60 + seconds) * SECOND;
    if (take(t, '.'))
        for (; t->at < t->end && *t->at >= '0' && *t->at <= '9'; t->at++) {
            unit /= 10;
            *ns += (uint64_t)(*t->at - '0') * unit;
        }
    return true;
}

/* Z, +HH, +HHMM or +HH:MM; nothing: not zoned. */
static bool take_zone(struct text *t, struct when *when)
{
    unsigned hours, minutes = 0;
    int32_t sign = take(t, '-') ? -1 : take(t, '+') ? 1 : 0;

    when->zoned = sign || take(t, 'Z');
    if (!sign)
        return true;
    if (!take_number(t, 2, 0, 23, &hours))
        return false;
    if ((take(t, ':') || t->at < t->end) && !take_number(t, 2, 0, 59, &minutes))
        return false;
    when->east = sign * (int32_t)(hours * 3600 + minutes * 60);
    return true;
}

/* Days since 1970-01-01 in the calendar that is valid today. */
static int64_t days_of(unsigned year, unsigned month, unsigned day)
{
    unsigned y = year - (month <= 2),
             m = (month + 9) % 12; /* years that begin in March end with the leap day */

    return (int64_t)(y * UINT64_C(365) + y / 4 - y / 100 + y / 400 + (m * 153 + 2) / 5 + day - 1) - 719468;
}

static bool take_date(struct text *t, int64_t *day)
{
    unsigned year, month, of_month;

    if (!take_number(t, 4, 1970, 2500, &year) || !take(t, '-') || !take_number(t, 2, 1, 12, &month) ||
        !take(t, '-') || !take_number(t, 2, 1, 31, &of_month))
        return false;
    *day = days_of(year, month, of_month);
    return true;
}

bool when_recorded(const char *text, size_t length, uint64_t *ns)
{
    struct text t = {text, text + length};
    uint64_t time = 0;
    int64_t day;

    if (!take_date(&t, &day) || (take(&t, 'T') && !take_time(&t, &time)))
        return false;
    take(&t, 'Z');
    *ns = (uint64_t)day * DAY_S * SECOND + time;
    return t.at == t.end;
}

/* ---- local time ---- */

/* How many seconds local time is ahead of UTC then. */
static int32_t east_of(int64_t seconds)
{
    time_t time = seconds;
    struct tm tm;

    return localtime_r(&time, &tm) ? (int32_t)tm.tm_gmtoff : 0;
}

/* The day in local time, or in that zone. */
static int64_t day_at(const struct when *when, uint64_t ns)
{
    int64_t seconds = (int64_t)(ns / SECOND);

    seconds += when->zoned ? when->east : east_of(seconds);
    return seconds >= 0 ? seconds / DAY_S : -1;
}

/* Seconds since the epoch of what a clock on the wall shows; there are none, one or two. Clocks change at
 * most once in two days. */
static bool wall_clock(int64_t shown, bool late, int64_t *seconds)
{
    int32_t before = east_of(shown - DAY_S), after = east_of(shown + DAY_S);
    bool is_before = east_of(shown - before) == before, is_after = east_of(shown - after) == after;

    *seconds = shown - (is_before && !(late && is_after) ? before : after);
    return is_before || is_after;
}

static int resolve_day(const struct when *when, int64_t day, bool late, uint64_t *ns, struct error *why)
{
    int64_t shown = day * DAY_S + (int64_t)(when->ns / SECOND), seconds = shown - when->east;

    if (!when->zoned && !wall_clock(shown, late, &seconds))
        return error_set(why, -EINVAL, "%02d:%02d does not exist on that day: clocks were set forward",
                         (int)(shown % DAY_S / 3600), (int)(shown % 3600 / 60));
    *ns = seconds < 0 ? 0 : (uint64_t)seconds * SECOND + when->ns % SECOND;
    return 0;
}

int when_resolve(const struct when *when, uint64_t first, uint64_t last, unsigned days_before, bool late,
                 uint64_t *ns, struct error *why)
{
    *ns = when->ns;
    if (when->absolute)
        return 0;
    if (when->dated)
        return resolve_day(when, when->day, late, ns, why);
    int64_t day = day_at(when, last) - days_before;
    int err = resolve_day(when, day, late, ns, why);
    if (err || *ns <= last)
        return err;
    uint64_t earlier;
    if (!resolve_day(when, day - 1, late, &earlier, why) && earlier >= first)
        *ns = earlier;
    return 0;
}

void when_format(uint64_t ns, char text[WHEN_TEXT])
{
    time_t seconds = (time_t)(ns / SECOND);
    struct tm tm = {0};

    localtime_r(&seconds, &tm);
    int minutes = (int)(tm.tm_gmtoff / 60),
        n = snprintf(text, WHEN_TEXT, "%04d-%02d-%02dT%02d:%02d:%02d.%06u", tm.tm_year + 1900, tm.tm_mon + 1,
                     tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, (unsigned)(ns % SECOND / 1000));
    if (!minutes)
        snprintf(text + n, WHEN_TEXT - (size_t)n, "Z");
    else
        snprintf(text + n, WHEN_TEXT - (size_t)n, "%c%02d:%02d", minutes < 0 ? '-' : '+', abs(minutes) / 60,
                 abs(minutes) % 60);
}

/* ---- what users type ---- */

/* "-10m", "now" */
static bool take_relative(const char *text, uint64_t now, struct when *when)
{
    uint64_t before = 0;

    *when = (struct when){.absolute = true};
    if (strcmp(text, "now") != 0 && (*text != '-' || duration_parse(text + 1, &before)))
        return false;
    when->ns = before < now ? now - before : 0;
    return true;
}

static bool take_day(struct text *t, uint64_t now, int64_t *day)
{
    static const struct when local;

    *day = day_at(&local, now);
    if (take_word(t, "today"))
        return true;
    if (!take_word(t, "yesterday"))
        return take_date(t, day);
    --*day;
    return true;
}

bool when_parse(const char *text, uint64_t now, struct when *when)
{
    struct text t = {text, text + strlen(text)};

    if (take_relative(text, now, when))
        return true;
    *when = (struct when){.dated = t.end - t.at < 3 || text[2] != ':'};
    if (when->dated) {
        if (!take_day(&t, now, &when->day))
            return false;
        if (t.at == t.end)
            return true;
        if (!take(&t, 'T') && !take(&t, ' '))
            return false;
    }
    return take_time(&t, &when->ns) && take_zone(&t, when) && t.at == t.end;
}
