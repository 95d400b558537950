/* SPDX-License-Identifier: GPL-2.0-only */
#include "history/when.h"

#define SECOND UINT64_C(1000000000)
#define DAY    (86400 * SECOND)

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

/* Days since 1970-01-01 in the calendar that is valid today. */
static uint64_t days_of(unsigned year, unsigned month, unsigned day)
{
    unsigned y = year - (month <= 2),
             m = (month + 9) % 12; /* years that begin in March end with the leap day */

    return y * UINT64_C(365) + y / 4 - y / 100 + y / 400 + (m * 153 + 2) / 5 + day - 1 - 719468;
}

bool when_parse(const char *text, size_t length, struct when *when)
{
    struct text t = {text, text + length};
    unsigned year, month, day;

    *when = (struct when){.of_day = length > 2 && text[2] == ':'};
    if (when->of_day)
        return take_time(&t, &when->ns) && t.at == t.end;
    if (!take_number(&t, 4, 1970, 2500, &year) || !take(&t, '-') || !take_number(&t, 2, 1, 12, &month) ||
        !take(&t, '-') || !take_number(&t, 2, 1, 31, &day))
        return false;
    uint64_t time = 0;
    if ((take(&t, 'T') || take(&t, ' ')) && !take_time(&t, &time))
        return false;
    take(&t, 'Z');
    when->ns = days_of(year, month, day) * DAY + time;
    return t.at == t.end;
}

uint64_t when_in(const struct when *when, uint64_t first, uint64_t last)
{
    if (!when->of_day)
        return when->ns;
    uint64_t time = last / DAY * DAY + when->ns;
    return time > last && time >= first + DAY ? time - DAY : time;
}
