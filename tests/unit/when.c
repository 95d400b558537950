// SPDX-License-Identifier: GPL-2.0-only
/* Times that users ask for, in several time zones and where clocks are changed, against date(1). */
#include "history/when.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "tests/unit/tap.h"

#define NS   UINT64_C(1000000000)
#define HOUR UINT64_C(3600)

/* 2026-01-31 13:00 in Berlin */
static const uint64_t now = 1769860800 * NS;

/* What date(1) says, or -1. */
static int64_t date(const char *text)
{
    char command[200];
    long long seconds = -1;

    snprintf(command, sizeof command, "date -d '%s' +%%s 2>/dev/null", text);
    FILE *pipe = popen(command, "r");
    char line[64] = "";
    if (pipe && fgets(line, sizeof line, pipe))
        seconds = strtoll(line, NULL, 10);
    if (pipe)
        pclose(pipe);
    return seconds;
}

/* Seconds since the epoch; -1: refused. */
static int64_t ours(const char *text, bool late)
{
    struct when when;
    struct error why = {""};
    uint64_t ns;

    if (!when_parse(text, now, &when) || when_resolve(&when, 0, UINT64_MAX / 2, 0, late, &ns, &why))
        return -1;
    return (int64_t)(ns / NS);
}

/* Each hour and half hour around the changes of a year; where date(1) has two times for one, it is one of
 * both. */
static void check_year(const char *zone)
{
    static const char *const days[] = {"2026-03-08", "2026-03-28", "2026-03-29", "2026-03-30", "2026-10-24",
                                       "2026-10-25", "2026-10-26", "2026-11-01", "2026-07-01", "1999-12-31"};
    size_t wrong = 0, skipped = 0, twice = 0;
    char text[32], first_wrong[32] = "";

    setenv("TZ", zone, 1);
    for (size_t i = 0; i < sizeof days / sizeof *days; i++)
        for (unsigned half = 0; half < 48; half++) {
            snprintf(text, sizeof text, "%s %02u:%02u", days[i], half / 2, half % 2 * 30);
            int64_t a = ours(text, false), b = ours(text, true), want = date(text);
            skipped += want < 0;
            twice += a != b;
            if ((want != a && want != b) || (a != b && b - a != 3600))
                if (!wrong++)
                    snprintf(first_wrong, sizeof first_wrong, "%s", text);
        }
    check(!wrong, "TZ=%s: 480 times are those of date(1): %zu are not, the first is %s", zone, wrong,
          first_wrong);
    bool changes = strcmp(zone, "UTC") != 0 && strcmp(zone, "Asia/Kolkata") != 0;
    check(changes == (skipped == 2) && changes == (twice == 2), "TZ=%s: %zu are skipped, %zu come twice",
          zone, skipped, twice);
}

static void check_twice(void)
{
    setenv("TZ", "Europe/Berlin", 1);
    check(ours("2026-10-25 02:30", false) == date("2026-10-25T02:30+02:00"), "--from takes the first 02:30");
    check(ours("2026-10-25 02:30", true) == date("2026-10-25T02:30+01:00"), "--to takes the second");
    setenv("TZ", "America/New_York", 1);
    check(ours("2026-11-01 01:30", false) == date("2026-11-01T01:30-04:00"), "west of UTC, the first 01:30");
    check(ours("2026-11-01 01:30", true) == date("2026-11-01T01:30-05:00"), "and the second");
    struct when when;
    struct error why = {""};
    uint64_t ns;
    bool parsed = when_parse("2026-03-08 02:30", now, &when);
    check(parsed && when_resolve(&when, 0, 0, 0, false, &ns, &why) == -EINVAL &&
              !strcmp(why.text, "02:30 does not exist on that day: clocks were set forward"),
          "what clocks skip is refused: %s", why.text);
}

static void check_forms(void)
{
    static const char *const same[] = {"2026-01-31T03:12:30",       "2026-01-31 03:12:30",
                                       "2026-01-31T03:12:30Z",      "2026-01-31T03:12:30+05:30",
                                       "2026-07-31T03:12:30-03:30", "2026-07-31T03:12+0200",
                                       "2026-01-31 03:12+02",       "2026-01-31",
                                       "2024-02-29 23:59:59"};
    static const struct {
        const char *text, *date;
    } relative[] = {{"-10m", "2026-01-31T12:00Z -10 minutes"},
                    {"-90", "2026-01-31T12:00Z -90 seconds"},
                    {"-1.5h", "2026-01-31T12:00Z -90 minutes"},
                    {"-2d", "2026-01-31T12:00Z -48 hours"},
                    {"now", "2026-01-31T12:00Z"},
                    {"today", "2026-01-31"},
                    {"today 03:12", "2026-01-31 03:12"},
                    {"yesterday", "2026-01-30"},
                    {"yesterday 03:12", "2026-01-30 03:12"},
                    {"yesterday 03:12Z", "2026-01-30 03:12Z"}};
    static const char *const bad[] = {"",
                                      "24:00",
                                      "3:12",
                                      "03:60",
                                      "03:12x",
                                      "2026-13-01",
                                      "2026-01-31T",
                                      "yesterday ",
                                      "yesterdays",
                                      "-",
                                      "-10x",
                                      "10m",
                                      "03:12+",
                                      "03:12+1",
                                      "03:12+24",
                                      "03:12+01:60",
                                      "2026-01-31Z03:12",
                                      "03:12Z ",
                                      "tomorrow",
                                      "-10m 03:12",
                                      "2026-01-31 Z"};

    setenv("TZ", "Europe/Berlin", 1);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        check(ours(same[i], false) == date(same[i]) && ours(same[i], false) > 0, "%s is that of date(1)",
              same[i]);
    for (size_t i = 0; i < sizeof relative / sizeof *relative; i++)
        check(ours(relative[i].text, false) == date(relative[i].date), "%s is %s", relative[i].text,
              relative[i].date);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        check(ours(bad[i], false) == -1, "\"%s\" is no time", bad[i]);
}

static int64_t in(const char *text, const char *first, const char *last, unsigned days_before)
{
    struct when when;
    struct error why = {""};
    uint64_t ns = 0;

    if (!when_parse(text, now, &when) ||
        when_resolve(&when, (uint64_t)date(first) * NS, (uint64_t)date(last) * NS, days_before, false, &ns,
                     &why))
        return -1;
    return (int64_t)(ns / NS);
}

static void check_of_day(void)
{
    static const struct {
        const char *text, *first, *last, *want;
    } cases[] = {
        {"03:00", "2026-01-10 23:00", "2026-01-11 05:00", "2026-01-11 03:00"},
        {"23:30", "2026-01-10 23:00", "2026-01-11 05:00", "2026-01-10 23:30"},
        {"06:00", "2026-01-10 23:00", "2026-01-11 05:00", "2026-01-11 06:00"},
        {"00:30", "2026-01-10 23:00", "2026-01-11 00:45", "2026-01-11 00:30"},
        {"23:30Z", "2026-01-10 23:00", "2026-01-11 05:00", "2026-01-10 23:30Z"},
        {"22:30-05:00", "2026-01-10 23:00", "2026-01-11 05:00", "2026-01-10 22:30-05:00"},
        {"04:00", "2026-03-28 12:00", "2026-03-29 12:00", "2026-03-29 04:00"},
        {"13:00", "2026-03-28 12:00", "2026-03-29 12:00", "2026-03-28 13:00"},
        {"13:00", "2026-10-24 12:00", "2026-10-25 12:00", "2026-10-24 13:00"},
    };

    setenv("TZ", "Europe/Berlin", 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(in(cases[i].text, cases[i].first, cases[i].last, 0) == date(cases[i].want),
              "%s in %s to %s is %s", cases[i].text, cases[i].first, cases[i].last, cases[i].want);
    check(in("23:50", "2026-01-10 22:00", "2026-01-11 00:10", 1) == date("2026-01-10 23:50"),
          "of the day before");
}

static void check_recorded(void)
{
    static const struct {
        const char *text;
        bool good;
        uint64_t ns;
    } cases[] = {
        {"1970-01-01", true, 0},
        {"2026-01-31T12:00:00.000000Z", true, 1769860800 * NS},
        {"2024-02-29T23:59:59.25Z", true, 1709251199 * NS + 250000000},
        {"2000-03-01T00:00Z", true, 951868800 * NS},
        {"2026-01-31T12:00:00.000000", true, 1769860800 * NS},
        {"03:12", false, 0},
        {"2026-01-31T", false, 0},
        {"2026-01-31T12:00:00+01:00", false, 0},
        {"", false, 0},
        {"now", false, 0},
    };

    setenv("TZ", "Europe/Berlin", 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t ns = 0;
        bool good = when_recorded(cases[i].text, strlen(cases[i].text), &ns);
        check(good == cases[i].good && (!good || ns == cases[i].ns), "recorded: \"%s\"", cases[i].text);
    }
}

static void check_format(void)
{
    static const struct {
        const char *zone, *text;
    } cases[] = {{"Europe/Berlin", "2026-01-31T13:00:00.250000+01:00"},
                 {"UTC", "2026-01-31T12:00:00.250000Z"},
                 {"America/St_Johns", "2026-01-31T08:30:00.250000-03:30"},
                 {"CET-1CEST,M3.5.0,M10.5.0/3", "2026-01-31T13:00:00.250000+01:00"},
                 {"No/Such_Zone", "2026-01-31T12:00:00.250000Z"}};
    char text[WHEN_TEXT];
    size_t wrong = 0;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        setenv("TZ", cases[i].zone, 1);
        when_format(now + 250000000, text);
        check(!strcmp(text, cases[i].text), "TZ=%s: %s", cases[i].zone, text);
    }
    setenv("TZ", "Europe/Berlin", 1);
    for (uint64_t s = 1774600000; s < 1774900000; s += 1800) { /* over a change */
        when_format(s * NS, text);
        wrong += date(text) != (int64_t)s;
    }
    check(!wrong, "date(1) reads all that is written: %zu are another time", wrong);
}

int main(void)
{
    check_year("Europe/Berlin");
    check_year("America/New_York");
    check_year("CET-1CEST,M3.5.0,M10.5.0/3");
    check_year("Asia/Kolkata");
    check_year("UTC");
    check_twice();
    check_forms();
    check_of_day();
    check_recorded();
    check_format();
    return done();
}
