// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/thresholds.h"
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/quote.h"
#include "base/suggest.h"

#define LONGEST_LINE 256
#define MILLION      1000000

/* clang-format off */
const struct threshold_spec threshold_table[THRESHOLDS] = {
    [STARVED_PCT]    = {"starved_pct",    25,   0.1, 100,     "percent",
                        "starved: least share of the time not idle that it waited for a CPU"},
    [THROTTLED_PCT]  = {"throttled_pct",  25,   0.1, 100,     "percent",
                        "throttled: least share of the time not idle that its CPU quota was used up"},
    [IO_BOUND_PCT]   = {"io_bound_pct",   40,   0.1, 100,     "percent",
                        "io-bound: least share of the time not idle that it was blocked on a disk"},
    [THRASHING_PCT]  = {"thrashing_pct",  25,   0.1, 100,     "percent",
                        "thrashing: least share of the time not idle that major faults and reclaim took"},
    [LOCK_BOUND_PCT] = {"lock_bound_pct", 40,   0.1, 100,     "percent",
                        "lock-bound: least share of the time not idle that it was blocked on locks"},
    [BLOCKED_PCT]    = {"blocked_pct",    25,   0.1, 100,     "percent",
                        "blocked: least share of the time not idle that it slept for what does not answer"},
    [ACTIVE_PCT]     = {"active_pct",     10,   0,   100,     "percent",
                        "these six: least time not idle, of the window's length"},
    [CPU_BOUND_PCT]  = {"cpu_bound_pct",  80,   0.1, 100,     "percent",
                        "cpu-bound: least share of one CPU's time that its busiest thread had"},
    [NOISY_PCT]      = {"noisy_pct",      20,   0.1, 1000000, "percent",
                        "noisy: least time that all others waited for it, of the window's length"},
    [BUSY_PCT]       = {"busy_pct",       50,   0.1, 1000000, "percent",
                        "not idle for so much of the window, a process has the verdict of its largest share"},
    [IDLE_PCT]       = {"idle_pct",       1,    0,   100,     "percent",
                        "idle: not idle for less of the window, and no other verdict"},
    [OOM_SECONDS]    = {"oom_seconds",    60,   1,   86400,   "seconds",
                        "oom-risk: most time until memory ends, if it grows on as it does"},
    [OOM_SHARE_PCT]  = {"oom_share_pct",  25,   0.1, 100,     "percent",
                        "oom-risk: least share of that growth that is its own"},
    [OOM_SPAN_S]     = {"oom_span_s",     10,   1,   3600,    "seconds",
                        "oom-risk: growth is looked at over so long"},
    [FAULT_CPU_US]   = {"fault_cpu_us",   20,   0,   1000000, "microseconds",
                        "thrashing: CPU time that a major fault counts for at most, in addition to its sleep"},
    [HANDOFF_US]     = {"handoff_us",     1000, 0,   1000000, "microseconds",
                        "lock-bound: a wait for a futex that is no contended lock counts if it is shorter"},
    [SPAN_S]         = {"span_s",         1,    0,   60,      "seconds",
                        "all: windows that are shorter are judged together, over so long"},
};
/* clang-format on */

void thresholds_default(struct thresholds *t)
{
    for (size_t i = 0; i < THRESHOLDS; i++)
        t->value[i] = threshold_table[i].standard;
}

/* ---- reading ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r'; /* files come from other systems, too */
}

static size_t blanks(const char *text, size_t length)
{
    size_t n = 0;

    while (n < length && is_blank(text[n]))
        n++;
    return n;
}

/* In millionths: digits with at most THRESHOLD_DECIMALS decimals, and no sign, exponent, "inf" or "nan". */
static bool parse_millionths(const char *text, size_t length, uint64_t *value)
{
    uint64_t unit = MILLION;
    bool point = false, digit = false;

    *value = 0;
    for (size_t i = 0; i < length; i++) {
        bool is_digit = text[i] >= '0' && text[i] <= '9';
        if (!is_digit && (text[i] != '.' || point))
            return false;
        if (!is_digit) {
            point = true;
            continue;
        }
        digit = true;
        if (point && unit == 1)
            return false;
        if (point)
            unit /= 10;
        if (!point && *value > UINT32_MAX * (uint64_t)MILLION)
            return false;
        *value = point ? *value + (uint64_t)(text[i] - '0') * unit
                       : *value * 10 + (uint64_t)(text[i] - '0') * unit;
    }
    return digit;
}

struct quoted threshold_text(double value)
{
    struct quoted shown;
    int n = snprintf(shown.text, sizeof shown.text, "%.*f", THRESHOLD_DECIMALS, value);

    while (n > 0 && shown.text[n - 1] == '0')
        n--;
    n -= n > 0 && shown.text[n - 1] == '.';
    shown.text[n] = '\0';
    return shown;
}

static int unknown(const char *name, size_t length, struct error *why)
{
    struct suggestion nearest = suggest(name, length, SLIPS);

    for (size_t i = 0; i < THRESHOLDS; i++)
        suggest_consider(&nearest, threshold_table[i].name);
    return error_set(why, -EINVAL, "unknown threshold \"%s\":%s%s%s hog help thresholds shows all",
                     quote_bytes(name, length).text, nearest.name ? " did you mean " : "",
                     nearest.name ? nearest.name : "", nearest.name ? "?" : "");
}

static int set(struct thresholds *t, const char *name, size_t name_length, const char *value, size_t length,
               struct error *why)
{
    for (size_t i = 0; i < THRESHOLDS; i++) {
        const struct threshold_spec *spec = &threshold_table[i];
        uint64_t millionths;
        if (strlen(spec->name) != name_length || memcmp(spec->name, name, name_length) != 0)
            continue;
        bool parsed = parse_millionths(value, length, &millionths);
        double given = parsed ? (double)millionths / MILLION : -1;
        if (given < spec->least || given > spec->most)
            return error_set(why, -EINVAL,
                             "%s: \"%s\" is not a number from %s to %s (%s, at most %d decimals)", spec->name,
                             quote_bytes(value, length).text, threshold_text(spec->least).text,
                             threshold_text(spec->most).text, spec->unit, THRESHOLD_DECIMALS);
        t->value[i] = given;
        return 0;
    }
    return unknown(name, name_length, why);
}

int thresholds_set(struct thresholds *t, const char *text, size_t length, struct error *why)
{
    size_t begin = blanks(text, length), end = begin, value, value_end = length;
    bool separated;

    while (end < length && text[end] != '=' && !is_blank(text[end]))
        end++;
    value = end + blanks(text + end, length - end);
    separated = value > end;
    if (value < length && text[value] == '=') {
        separated = true;
        value++;
        value += blanks(text + value, length - value);
    }
    while (value_end > value && is_blank(text[value_end - 1]))
        value_end--;
    if (end == begin || !separated || value == value_end)
        return error_set(why, -EINVAL, "\"%s\" is not NAME=VALUE: hog help thresholds shows all names",
                         quote_bytes(text, length).text);
    return set(t, text + begin, end - begin, text + value, value_end - value, why);
}

static int parse_line(struct thresholds *t, const char *line, size_t length, struct error *why)
{
    const char *comment = memchr(line, '#', length);

    if (comment)
        length = (size_t)(comment - line);
    if (blanks(line, length) == length)
        return 0;
    return thresholds_set(t, line, length, why);
}

int thresholds_parse(struct thresholds *t, const char *text, size_t length, struct error *why)
{
    struct error reason = {""};
    unsigned number_of_line = 0;

    while (length) {
        const char *newline = memchr(text, '\n', length);
        size_t line = newline ? (size_t)(newline - text) : length;
        number_of_line++;
        int err =
            line > LONGEST_LINE
                ? error_set(&reason, -EINVAL, "longer than %d bytes: not a file of thresholds", LONGEST_LINE)
                : parse_line(t, text, line, &reason);
        if (err)
            return error_set(why, err, "line %u: %s", number_of_line, reason.text);
        line += newline != NULL;
        text += line;
        length -= line;
    }
    return 0;
}

/* A FIFO or a device must not make hog wait, and not be read from either. */
static int open_regular(const char *path, struct error *why)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat stat;

    if (fd < 0)
        return error_set(why, -errno, "%s", strerror(errno));
    if (!fstat(fd, &stat) && S_ISREG(stat.st_mode))
        return fd;
    close(fd);
    return error_set(why, -EINVAL, "not a regular file");
}

static int read_file(struct thresholds *t, int fd, char *text, struct error *why)
{
    size_t have = 0;

    while (have <= THRESHOLDS_MOST) {
        ssize_t n = read(fd, text + have, THRESHOLDS_MOST + 1 - have);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return error_set(why, -errno, "%s", strerror(errno));
        if (n == 0)
            return thresholds_parse(t, text, have, why);
        have += (size_t)n;
    }
    return error_set(why, -EFBIG, "larger than %d bytes: not a file of thresholds", THRESHOLDS_MOST);
}

int thresholds_read(struct thresholds *t, const char *path, struct error *why)
{
    struct error reason = {""};
    char *text = malloc(THRESHOLDS_MOST + 1);
    int fd = text ? open_regular(path, &reason) : error_set(&reason, -ENOMEM, "out of memory");
    int err = fd < 0 ? fd : read_file(t, fd, text, &reason);

    if (fd >= 0)
        close(fd);
    free(text);
    return err ? error_set(why, err, "%s: %s", quote(path).text, reason.text) : 0;
}
