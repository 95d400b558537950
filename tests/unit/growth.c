/* SPDX-License-Identifier: GPL-2.0-only */
/* Made-up amounts of known growth. */
#include "verdict/growth.h"
#include "tests/unit/tap.h"
#include <math.h>

#define MIB    1048576.0
#define BASE   (500 * MIB)
#define SECOND 1000000000ull
#define START  (4294960ull * SECOND) /* ms since boot are about to pass 32 bits */

/* MiB above the base at t seconds. */
typedef double amount(double t);

static double flat(double t)
{
    return 0;
}

static double steady(double t)
{
    return 8 * t;
}

static double slow(double t)
{
    return 0.25 * t;
}

static double shrinking(double t)
{
    return 300 - 8 * t;
}

/* 8 MiB/s and noise as large as the growth in 2 s: uniform, different each time. */
static double noisy(double t)
{
    return 8 * t + 16 * (fmod(sin(t * 1000) * 43758.5, 1) / 2);
}

/* 16 MiB at once, each two seconds. */
static double steps(double t)
{
    return 16 * floor(t / 2);
}

/* 400 MiB in 2.2 s, and given back at once: a compiler's processes, one after the other. */
static double sawtooth(double t)
{
    return 400 * fmod(t / 2.2, 1);
}

/* Four compilers side by side, each with its own pace. */
static double compile(double t)
{
    return 120 * fmod(t / 1.3, 1) + 200 * fmod(t / 2.1 + 0.3, 1) + 90 * fmod(t / 0.7 + 0.6, 1) +
           150 * fmod(t / 3.3, 1);
}

/* 100 MiB once, and then no more. */
static double jump(double t)
{
    return t < 4 ? 0 : 100;
}

/* Still for 20 s, then a leak. */
static double late(double t)
{
    return t < 20 ? 0 : 20 * (t - 20);
}

static struct growth_rate grow(amount *shape, double window, double seconds)
{
    struct growth growth = {0};
    long windows = lround(seconds / window);

    for (long i = 0; i <= windows; i++) {
        double t = (double)i * window;
        growth_add(&growth, START + (uint64_t)(t * 1e9), (uint64_t)(BASE + shape(t) * MIB));
    }
    return growth_rate(&growth);
}

static bool near(double value, double want, double part)
{
    return fabs(value - want) <= fabs(want) * part;
}

static const double windows[] = {0.001, 0.01, 0.1, 0.3, 0.5, 0.7, 1};

static void check_steady(void)
{
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        double after = windows[i] < 0.7 ? 3 : 4;
        struct growth_rate rate = grow(steady, windows[i], after);
        check(rate.sustained && near(rate.bytes_s, 8 * MIB, 0.02),
              "8 MiB/s, windows of %g s, after %g s: %d %.2f MiB/s", windows[i], after, rate.sustained,
              rate.bytes_s / MIB);
        double left = growth_seconds_left(&rate, (uint64_t)(80 * MIB));
        check(near(left, 10, 0.05), "with windows of %g s, 80 MiB last for 10 s: %.2f", windows[i], left);
    }
    struct growth_rate rate = grow(steady, 5, 40), slowly = grow(slow, 1, 12), minutes = grow(slow, 60, 600);
    check(rate.sustained && near(rate.bytes_s, 8 * MIB, 0.02),
          "windows of 5 s stretch the span: %g s, %.2f MiB/s", rate.span_s, rate.bytes_s / MIB);
    check(slowly.sustained && near(slowly.bytes_s, 0.25 * MIB, 0.05), "256 KiB/s: %.3f MiB/s",
          slowly.bytes_s / MIB);
    check(minutes.sustained && near(minutes.bytes_s, 0.25 * MIB, 0.05), "in windows of a minute: %.3f MiB/s",
          minutes.bytes_s / MIB);
}

/* At no time within a minute, whatever the window. */
static double most_alarms(amount *shape, double first)
{
    double most = 0;

    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        unsigned alarms = 0, asked = 0;
        if (windows[i] < 0.1)
            continue;
        for (; asked < (60 - first) * 2; asked++)
            alarms += grow(shape, windows[i], first + asked / 2.0).sustained;
        if (alarms * 100.0 / asked > most)
            most = alarms * 100.0 / asked;
    }
    return most;
}

static void check_others(void)
{
    struct growth_rate rate;
    unsigned found = 0;

    for (int seconds = 12; seconds < 22; seconds++) {
        rate = grow(noisy, 0.5, seconds);
        found += rate.sustained && near(rate.bytes_s, 8 * MIB, 0.2);
    }
    check(found >= 9, "noise does not hide growth: reported %u times of 10", found);
    rate = grow(steps, 0.5, 12);
    check(rate.sustained && near(rate.bytes_s, 8 * MIB, 0.2),
          "steps of two seconds are growth: %d %.2f MiB/s", rate.sustained, rate.bytes_s / MIB);
    rate = grow(shrinking, 0.5, 12);
    check(!rate.sustained && near(rate.bytes_s, -8 * MIB, 0.02), "what shrinks does not grow: %.2f MiB/s",
          rate.bytes_s / MIB);
    check(growth_seconds_left(&rate, 1 << 20) == -1, "and has no end");
    check(most_alarms(flat, 1) == 0, "what stays as it is does not grow");
    check(most_alarms(sawtooth, 1) == 0, "a saw-tooth is never growth: %.1f %%", most_alarms(sawtooth, 1));
    check(most_alarms(compile, 1) == 0, "nor is a compilation: %.1f %%", most_alarms(compile, 1));
    check(most_alarms(jump, 0) == 0, "nor one jump: %.1f %%", most_alarms(jump, 0));
    rate = grow(late, 0.5, 23.5);
    check(rate.sustained && near(rate.bytes_s, 20 * MIB, 0.2),
          "a leak is reported 3.5 s after it began: %d %.2f MiB/s", rate.sustained, rate.bytes_s / MIB);
    check(!grow(steady, 0.5, 2).sustained, "two seconds are too short for a report");
}

static void check_bad(void)
{
    struct growth growth = {0};
    struct growth_rate rate = growth_rate(&growth);

    check(!rate.sustained && rate.span_s == 0 && growth_seconds_left(&rate, 1) == -1,
          "nothing yet: nothing known");
    for (int i = 0; i < 100; i++)
        growth_add(&growth, START, (uint64_t)i << 30);
    check(!growth_rate(&growth).sustained, "a clock that stands still");
    for (unsigned i = 0; i < 100; i++)
        growth_add(&growth, START - i * SECOND, (uint64_t)i << 30);
    check(!growth_rate(&growth).sustained, "a clock that goes back");
    growth = (struct growth){0};
    for (unsigned i = 0; i < 40; i++)
        growth_add(&growth, START + i * SECOND, UINT64_MAX - i);
    check(!growth_rate(&growth).sustained, "amounts that cannot be");
    growth = (struct growth){.span_ms = 60000};
    for (unsigned i = 0; i <= 300; i++)
        growth_add(&growth, START + i * SECOND, i << 20);
    rate = growth_rate(&growth);
    check(rate.sustained && near(rate.span_s, 60, 0.1) && near(rate.bytes_s, MIB, 0.01),
          "a span of a minute: %g s", rate.span_s);
    /* Values from minutes ago do not count. */
    for (unsigned i = 0; i < 30; i++)
        growth_add(&growth, START + (9000 + 3 * i) * SECOND, 5 << 20);
    rate = growth_rate(&growth);
    check(!rate.sustained && rate.bytes_s == 0 && rate.span_s <= 61, "what was long ago is left out: %g s",
          rate.span_s);
}

int main(void)
{
    check_steady();
    check_others();
    check_bad();
    return done();
}
