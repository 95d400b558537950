/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The output of a C test: one line per check, read by scripts/test.sh.
 *
 *   ok - NAME
 *   not ok - NAME: detail
 *   skip - NAME: needs X: reason      (X as in scripts/has.sh)
 *
 * A test ends with `return done();`. One that prints no line counts as failed.
 */
#ifndef HOG_TESTS_TAP_H
#define HOG_TESTS_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#define TAP_UNUSED __attribute__((unused))

static unsigned tap_lines, tap_failed;

static void tap_flush_each_line(void)
{
    if (!tap_lines++)
        setvbuf(stdout, NULL, _IOLBF, 0); /* a crash later must not swallow what was said before */
}

/* One check. The format gives its name, and after ": " the details for a failure. */
__attribute__((format(printf, 2, 3))) TAP_UNUSED static void check(bool ok, const char *format, ...)
{
    va_list args;

    tap_flush_each_line();
    if (!ok)
        tap_failed++;
    fputs(ok ? "ok - " : "not ok - ", stdout);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
}

TAP_UNUSED static void skip(const char *name, const char *reason)
{
    tap_flush_each_line();
    printf("skip - %s: %s\n", name, reason);
}

/* The exit status of the test. */
TAP_UNUSED static int done(void)
{
    fflush(stdout);
    return !tap_lines || tap_failed ? 1 : 0;
}

#endif
