/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/options_value.h"
#include "base/duration.h"
#include "base/list.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LONGEST_BARE (600 * 1000 * OPTION_MS) /* of an interval without a unit: a PID is larger */

struct quoted option_label(const struct option_spec *spec)
{
    struct quoted label;

    if (spec->letter)
        snprintf(label.text, sizeof label.text, "-%c/--%s", spec->letter, spec->name);
    else
        snprintf(label.text, sizeof label.text, "--%s", spec->name);
    return label;
}

static bool parse_number(const char *text, size_t length, uint64_t least, uint64_t most, uint64_t *value)
{
    *value = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        if (__builtin_mul_overflow(*value, 10, value) ||
            __builtin_add_overflow(*value, (uint64_t)(text[i] - '0'), value))
            return false;
    }
    return length && *value >= least && *value <= most;
}

int option_number(const struct option_spec *spec, const char *label, const char *text, uint64_t *value,
                  struct error *why)
{
    bool power = spec->kind == OPTION_POWER;

    if (parse_number(text, strlen(text), spec->least, spec->most, value) &&
        !(power && (*value & (*value - 1))))
        return 0;
    return error_set(why, -EINVAL, "%s: \"%s\" is not a %s from %" PRIu64 " to %" PRIu64, label,
                     quote(text).text, power ? "power of two" : "whole number", spec->least, spec->most);
}

int option_interval(const struct option_spec *spec, const char *label, const char *text, uint64_t *ns,
                    struct error *why)
{
    int error = duration_parse(text, ns);
    bool bare = *text && strchr(".0123456789", text[strlen(text) - 1]);

    if (!error && bare && *ns > LONGEST_BARE && *ns <= spec->most)
        return error_set(why, -EINVAL, "%s: %s seconds? did you mean hog why %s? A window that long is %ss",
                         label, quote(text).text, quote(text).text, quote(text).text);
    if (!error && *ns >= spec->least && *ns <= spec->most)
        return 0;
    return error_set(why, -EINVAL, "%s: \"%s\" is not a time from 1ms to 24h, like 1, 0.5, 10ms or 2m", label,
                     quote(text).text);
}

static int parse_pid(const struct option_spec *spec, const char *text, size_t length, uint64_t *pid,
                     struct error *why)
{
    if (parse_number(text, length, spec->least, spec->most, pid))
        return 0;
    return error_set(why, -EINVAL,
                     "\"%s\" is not a PID: a PID is a whole number from %" PRIu64 " to %" PRIu64,
                     quote_bytes(text, length).text, spec->least, spec->most);
}

static int add_not_pid(struct filter_options *filters, uint64_t pid, struct error *why)
{
    if (filters->nnot_pids == FILTER_PIDS)
        return error_set(why, -EINVAL, "too many PIDs with a !: at most %d are allowed", FILTER_PIDS);
    filters->not_pids[filters->nnot_pids++] = (uint32_t)pid;
    return 0;
}

static int add_pid(struct options *o, const struct option_spec *spec, const char *text, size_t length,
                   struct error *why)
{
    uint64_t pid;
    bool negated = length && *text == '!';
    int error = parse_pid(spec, text + negated, length - negated, &pid, why);

    if (error || negated)
        return error ? error : add_not_pid(&o->run.filters, pid, why);
    for (size_t i = 0; i < o->npids; i++)
        if (o->pids[i] == pid)
            return 0;
    if (o->npids == MAX_PIDS)
        return error_set(why, -EINVAL, "too many PIDs: at most %d are allowed", MAX_PIDS);
    o->pids[o->npids++] = (uint32_t)pid;
    return 0;
}

int option_pids(struct options *options, const struct option_spec *spec, const char *list, struct error *why)
{
    bool negated = *list == '!';
    const char *all = list;
    int error = 0;

    while (list && !error) {
        const char *word;
        size_t length = list_word(&list, &word);
        if (negated != (length && *word == '!'))
            return error_set(why, -EINVAL, "-p/--pid: \"%s\": a ! is in front of each of the list or of none",
                             quote(all).text);
        error = add_pid(options, spec, word, length, why);
    }
    return error;
}

static int take_format(struct error *why, const char *label, const char *text, enum out_format *format)
{
    char allowed[64] = "";

    for (size_t i = 0; i <= OUT_HTML; i++) {
        if (!strcmp(text, format_names[i])) {
            *format = (enum out_format)i;
            return 0;
        }
        append_name(allowed, sizeof allowed, format_names[i]);
    }
    return error_set(why, -EINVAL, "%s: unknown format \"%s\": formats are %s", label, quote(text).text,
                     allowed);
}

/* NAME=VALUE,.. or a file. */
static int take_thresholds(struct options *o, const char *label, const char *text, struct error *why)
{
    struct error reason = {""};
    bool settings = text[strspn(text, "abcdefghijklmnopqrstuvwxyz_")] == '=';
    int error = settings ? 0 : thresholds_read(&o->thresholds, text, &reason);

    while (settings && text && !error) {
        const char *word;
        size_t length = list_word(&text, &word);
        error = thresholds_set(&o->thresholds, word, length, &reason);
    }
    return error ? error_set(why, -EINVAL, "%s: %s", label, reason.text) : 0;
}

/* The help text of the option lists the words. */
static int take_word(uint32_t *to, const struct option_spec *spec, const char *label, const char *text,
                     size_t length, struct error *why)
{
    uint32_t word = rows_word(text, length, (uint32_t)spec->least);

    *to |= word;
    return word ? 0
                : error_set(why, -EINVAL, "%s: unknown \"%s\": %s", label, quote_bytes(text, length).text,
                            spec->help);
}

static int take_words(uint32_t *to, const struct option_spec *spec, const char *label, const char *list,
                      struct error *why)
{
    if (spec->kind == OPTION_BY) {
        *to = 0;
        return take_word(to, spec, label, list, strlen(list), why);
    }
    int error = 0;

    while (list && !error) {
        const char *word;
        size_t length = list_word(&list, &word);
        error = take_word(to, spec, label, word, length, why);
    }
    return error;
}

static int add_text(struct texts *texts, const char *label, const char *text, struct error *why)
{
    if (texts->n == MAX_TEXTS)
        return error_set(why, -EINVAL, "%s: at most %d times", label, MAX_TEXTS);
    texts->items[texts->n++] = text;
    return 0;
}

static int take_choice(const struct option_spec *spec, const char *label, const char *text, unsigned *word,
                       struct error *why)
{
    char allowed[64] = "";

    for (unsigned i = 0; spec->words[i]; i++) {
        if (!strcmp(text, spec->words[i])) {
            *word = i;
            return 0;
        }
        append_name(allowed, sizeof allowed, spec->words[i]);
    }
    return error_set(why, -EINVAL, "%s: \"%s\" is not one of %s", label, quote(text).text, allowed);
}

/* 1000, 64K, 64M, 2G, also as 64MiB. */
static int take_size(const struct option_spec *spec, const char *label, const char *text, uint64_t *bytes,
                     struct error *why)
{
    static const char units[] = "KMG";
    size_t digits = strspn(text, "0123456789");
    const char *unit = text[digits] ? strchr(units, text[digits]) : NULL,
               *rest = text + digits + (unit != NULL);
    unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;

    if (parse_number(text, digits, 0, UINT64_MAX >> shift, bytes) &&
        (!*rest || !strcmp(rest, "B") || (unit && !strcmp(rest, "iB")))) {
        *bytes <<= shift;
        if (*bytes >= spec->least && *bytes <= spec->most)
            return 0;
    }
    return error_set(why, -EINVAL, "%s: \"%s\" is not a size from 64K to 1024G, like 500K, 64M or 2G", label,
                     quote(text).text);
}

int option_apply(struct options *options, const struct option_spec *spec, void *values, const char *value,
                 struct error *why)
{
    struct quoted label = option_label(spec);
    void *member = (char *)values + spec->offset;
    uint64_t number = 0;
    int error = 0;

    switch (spec->kind) {
    case OPTION_FLAG:
        *(bool *)member = true;
        break;
    case OPTION_NUMBER:
    case OPTION_POWER:
        error = option_number(spec, label.text, value, &number, why);
        *(unsigned *)member = (unsigned)number;
        break;
    case OPTION_COUNT:
        return option_number(spec, label.text, value, member, why);
    case OPTION_INTERVAL:
        return option_interval(spec, label.text, value, member, why);
    case OPTION_PIDS:
        return option_pids(options, spec, value, why);
    case OPTION_PID:
        error = parse_pid(spec, value, strlen(value), &number, why);
        *(uint32_t *)member = (uint32_t)number;
        break;
    case OPTION_FORMAT:
        options->format_given = true;
        return take_format(why, label.text, value, member);
    case OPTION_SIZE:
        return take_size(spec, label.text, value, member, why);
    case OPTION_TEXT:
        *(const char **)member = value;
        break;
    case OPTION_TEXTS:
        return add_text(member, label.text, value, why);
    case OPTION_WITH:
    case OPTION_BY:
        return take_words(member, spec, label.text, value, why);
    case OPTION_THRESHOLDS:
        return take_thresholds(options, label.text, value, why);
    case OPTION_WORD:
        return take_choice(spec, label.text, value, member, why);
    case OPTION_PARSED:
        return spec->parse(member, label.text, value, why);
    case OPTION_MODE:
        options->mode = (enum run_mode)spec->least;
        break;
    }
    return error;
}
