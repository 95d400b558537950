/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/options.h"
#include "cli/options_history.h"
#include "cli/options_table.h"
#include "cli/options_value.h"
#include "cli/options_views.h"
#include "base/quote.h"
#include "base/suggest.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_TOP      10
#define DEFAULT_INTERVAL UINT64_C(1000000000)
#define TRACK_INTERVAL   UINT64_C(10000000)
#define COMMAND_INTERVAL UINT64_C(100000000)

static const char default_view_name[] = "top", pinned_view_name[] = "cpu";

struct parse {
    struct options *options;
    const char *const *view_names;
    struct error *why;
    enum verb verb;
    size_t nwords;               /* arguments that are no options */
    const char *pin_word;        /* "pin", "read" or "unpin", if that is the first of them */
    uint64_t interval_ns, count; /* as arguments; 0: not given */
};

/* The option whose name is within so many slips of the word. */
static const char *nearest_option(const char *word, size_t length, size_t slips)
{
    struct suggestion nearest = suggest(word, length, slips);

    for (size_t i = 0; i < option_table_size; i++)
        if (!option_table[i].hidden)
            suggest_consider(&nearest, option_table[i].name);
    return nearest.name;
}

static const char *nearest_view(const char *const *names, const char *word, size_t length)
{
    struct suggestion nearest = suggest(word, length, SLIPS);

    for (; *names; names++)
        suggest_consider(&nearest, *names);
    suggest_consider(&nearest, "doctor");
    return nearest.name;
}

/* --- options --- */

static int needs_value(struct parse *p, const struct option_spec *spec)
{
    return error_set(p->why, -EINVAL, "option %s needs a value: %s", option_label(spec).text, spec->argument);
}

/* --name, --name=value or --name value. */
static int take_long(struct parse *p, const char *word, const char *next, int *used)
{
    size_t length = strcspn(word, "=");

    for (size_t i = 0; i < option_table_size; i++) {
        const struct option_spec *spec = &option_table[i];
        const char *value = word[length] ? word + length + 1 : NULL;
        if (strlen(spec->name) != length || strncmp(word, spec->name, length))
            continue;
        if (!spec->argument && value)
            return error_set(p->why, -EINVAL, "option %s takes no value", option_label(spec).text);
        if (spec->argument && !value) {
            if (!next)
                return needs_value(p, spec);
            value = next;
            *used = 1;
        }
        return option_apply(p->options, spec, value ? value : "", p->why);
    }
    const char *nearest = nearest_option(word, length, SLIPS);
    if (nearest)
        return error_set(p->why, -EINVAL, "unknown option --%s: did you mean --%s? --help lists all options",
                         quote_bytes(word, length).text, nearest);
    return error_set(p->why, -EINVAL, "unknown option --%s: --help lists all options",
                     quote_bytes(word, length).text);
}

static const struct option_spec *find_letter(char letter)
{
    for (size_t i = 0; i < option_table_size; i++)
        if (option_table[i].letter && option_table[i].letter == letter)
            return &option_table[i];
    return NULL;
}

/* -t, -tv, -k5, -k 5. */
static int take_letters(struct parse *p, const char *letters, const char *next, int *used)
{
    for (; *letters; letters++) {
        const struct option_spec *spec = find_letter(*letters);
        if (!spec)
            return error_set(p->why, -EINVAL, "unknown option -%s: --help lists all options",
                             quote_bytes(letters, (*letters & 0x80) ? strlen(letters) : 1).text);
        if (!spec->argument) {
            int error = option_apply(p->options, spec, "", p->why);
            if (error)
                return error;
            continue;
        }
        if (letters[1])
            return option_apply(p->options, spec, letters + 1, p->why);
        if (!next)
            return needs_value(p, spec);
        *used = 1;
        return option_apply(p->options, spec, next, p->why);
    }
    return 0;
}

/* --- arguments --- */

static int unknown_view(struct parse *p, const char *word, size_t length)
{
    char views[160] = "";

    for (size_t i = 0; p->view_names[i]; i++)
        append_name(views, sizeof views, p->view_names[i]);
    append_name(views, sizeof views, "doctor");
    const char *option = nearest_option(word, length, 0);
    const char *nearest = nearest_view(p->view_names, word, length);
    if (!option && !nearest)
        return error_set(p->why, -EINVAL, "unknown view \"%s\": views are %s", quote_bytes(word, length).text,
                         views);
    return error_set(p->why, -EINVAL, "unknown view \"%s\": views are %s; did you mean %s%s?",
                     quote_bytes(word, length).text, views, option ? "--" : "", option ? option : nearest);
}

static int add_view(struct parse *p, const char *word, size_t length)
{
    struct options *o = p->options;
    const char *name = NULL;

    if (length == strlen("doctor") && !strncmp(word, "doctor", length))
        name = "doctor";
    for (size_t i = 0; p->view_names[i] && !name; i++)
        if (strlen(p->view_names[i]) == length && !strncmp(word, p->view_names[i], length))
            name = p->view_names[i];
    if (!name)
        return unknown_view(p, word, length);
    for (size_t i = 0; i < o->nviews; i++)
        if (o->views[i] == name)
            return 0;
    if (o->nviews == MAX_VIEWS)
        return error_set(p->why, -EINVAL, "too many views: at most %d at once", MAX_VIEWS);
    o->views[o->nviews++] = name;
    return 0;
}

static int take_views(struct parse *p, const char *list)
{
    static const char *const alone[] = {"track", "doctor"};
    struct options *o = p->options;

    for (;;) {
        size_t length = strcspn(list, ",");
        int error = add_view(p, list, length);
        if (error)
            return error;
        if (!list[length])
            break;
        list += length + 1;
    }
    for (size_t i = 0; i < o->nviews; i++)
        for (size_t j = 0; j < sizeof alone / sizeof *alone; j++)
            if (o->nviews > 1 && !strcmp(o->views[i], alone[j]))
                return error_set(p->why, -EINVAL, "%s cannot be combined with other views", alone[j]);
    return 0;
}

static const struct option_spec *spec_of_kind(enum option_kind kind)
{
    const struct option_spec *spec = option_table;
    while (spec->kind != kind)
        spec++;
    return spec;
}

/* Views do not begin like this. */
static bool looks_like_number(const char *word)
{
    word += *word == '-' || *word == '+';
    return *word == '.' || (*word >= '0' && *word <= '9');
}

/* hog pin DIR [VIEW,..], hog read DIR [INTERVAL [COUNT]], hog unpin DIR. */
static const struct pin_word {
    const char *word;
    enum run_mode mode;
} pin_words[] = {{"pin", RUN_PIN}, {"read", RUN_READ}, {"unpin", RUN_UNPIN}};

static bool take_pin_word(struct parse *p, const char *word)
{
    for (size_t i = 0; i < sizeof pin_words / sizeof *pin_words; i++) {
        if (strcmp(word, pin_words[i].word))
            continue;
        p->options->mode = pin_words[i].mode;
        p->pin_word = word;
        return true;
    }
    return false;
}

static int take_directory(struct parse *p, const char *word)
{
    if (!*word)
        return error_set(p->why, -EINVAL, "%s: DIR is empty", p->pin_word);
    p->options->pinned = word;
    return 0;
}

/* What follows DIR. */
static int take_pin_rest(struct parse *p, const char *word)
{
    if (p->options->mode == RUN_PIN && p->nwords == 3 && !looks_like_number(word))
        return take_views(p, word);
    if (p->options->mode == RUN_PIN)
        return error_set(p->why, -EINVAL, "unexpected \"%s\": hog pin DIR [VIEW,..]", quote(word).text);
    return error_set(p->why, -EINVAL, "unexpected \"%s\": hog unpin DIR", quote(word).text);
}

static int take_word(struct parse *p, const char *word)
{
    if (p->nwords == 0 && p->verb == VERB_NONE && (p->verb = verb_of(word)) != VERB_NONE)
        return 0;
    if (p->verb != VERB_NONE) {
        int taken = verb_word(p->options, p->verb, word, p->why);
        if (taken)
            return taken < 0 ? taken : 0;
    }
    p->nwords++;
    if (p->nwords == 1 && p->verb == VERB_NONE && take_pin_word(p, word))
        return 0;
    if (p->nwords == 1 && !looks_like_number(word))
        return take_views(p, word);
    if (p->nwords == 2 && p->pin_word)
        return take_directory(p, word);
    if (p->pin_word && p->options->mode != RUN_READ)
        return take_pin_rest(p, word);
    if (options_is_view(p->options, "doctor"))
        return error_set(p->why, -EINVAL, "unexpected \"%s\": doctor takes no INTERVAL and no COUNT",
                         quote(word).text);
    if (options_is_view(p->options, "track"))
        return option_pids(p->options, spec_of_kind(OPTION_PIDS), word, p->why);
    if (!p->interval_ns)
        return option_interval(spec_of_kind(OPTION_INTERVAL), "INTERVAL", word, &p->interval_ns, p->why);
    if (!p->count)
        return option_number(spec_of_kind(OPTION_COUNT), "COUNT", word, &p->count, p->why);
    return error_set(p->why, -EINVAL, "unexpected \"%s\": nothing follows INTERVAL and COUNT",
                     quote(word).text);
}

static int default_view(struct parse *p)
{
    struct options *o = p->options;
    const char *name = o->mode == RUN_PIN ? pinned_view_name : default_view_name;

    for (size_t i = 0; p->view_names[i] && !o->nviews; i++)
        if (!strcmp(name, p->view_names[i]))
            o->views[o->nviews++] = p->view_names[i];
    return o->nviews ? 0 : error_set(p->why, -EINVAL, "no VIEW given: --help lists all views");
}

/* Which views are read, says the directory. */
static int check_pin(struct parse *p)
{
    const struct options *o = p->options;

    if (!p->pin_word)
        return 0;
    if (!o->pinned)
        return error_set(p->why, -EINVAL, "%s needs DIR: a directory in a BPF file system, like %s",
                         p->pin_word, "/sys/fs/bpf/hog");
    if (o->mode != RUN_READ && (o->interval_ns || o->count || o->npids))
        return error_set(p->why, -EINVAL,
                         "%s takes neither INTERVAL, COUNT nor PIDs: those are for hog read DIR",
                         p->pin_word);
    if (o->mode == RUN_PIN && options_is_view(p->options, "doctor"))
        return error_set(p->why, -EINVAL, "doctor is nothing to pin");
    return 0;
}

/* What can only be said once everything has been seen. */
static int finish(struct parse *p)
{
    struct options *o = p->options;
    bool unnamed = o->mode == RUN_READ || o->mode == RUN_UNPIN;
    int error = verb_finish(o, p->verb, p->why);

    if (!o->top)
        o->top = p->verb == VERB_RECORD ? RECORD_TOP : DEFAULT_TOP;
    if (!error && (o->mode == RUN_REPORT || o->mode == RUN_DIFF))
        return 0;
    if (!error)
        error = check_pin(p);
    if (!error && !o->nviews && !unnamed)
        error = default_view(p);
    if (error || o->mode == RUN_THRESHOLDS)
        return error;
    error = options_check_views(o, p->why);
    if (error)
        return error;
    if (options_is_view(p->options, "doctor")) {
        if (p->verb == VERB_RECORD)
            return error_set(p->why, -EINVAL, "doctor measures nothing: there is nothing to record");
        if (o->interval_ns || o->count)
            return error_set(p->why, -EINVAL, "doctor takes no INTERVAL and no COUNT");
        o->mode = RUN_DOCTOR;
        o->nviews = 0;
    }
    if (options_is_view(p->options, "track") && !o->npids)
        return error_set(p->why, -EINVAL, "track needs at least one PID: hog track PID.. or -p PID,..");
    if (p->interval_ns && o->interval_ns)
        return error_set(p->why, -EINVAL, "interval given twice: as INTERVAL and with -i");
    if (p->count && o->count)
        return error_set(p->why, -EINVAL, "count given twice: as COUNT and with -n");
    if (p->interval_ns)
        o->interval_ns = p->interval_ns;
    if (p->count)
        o->count = p->count;
    if (!o->interval_ns)
        o->interval_ns = options_is_view(p->options, "track") ? TRACK_INTERVAL
                         : o->command                         ? COMMAND_INTERVAL
                                                              : DEFAULT_INTERVAL;
    return 0;
}

int options_parse(struct options *options, int argc, char **argv, const char *const *view_names,
                  struct error *why)
{
    struct parse p = {.options = options, .view_names = view_names, .why = why};
    bool words_only = false;

    *options = (struct options){.keep = RECORD_KEEP};
    thresholds_default(&options->thresholds);
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *next = i + 1 < argc ? argv[i + 1] : NULL;
        int error, used = 0;
        if (words_only || word[0] != '-' || !word[1] || looks_like_number(word)) {
            error = take_word(&p, word);
        } else if (!strcmp(word, "--") && options_is_view(p.options, "energy")) {
            if (!next)
                return error_set(why, -EINVAL, "a command must follow --: hog energy -- COMMAND ARGUMENTS..");
            options->command = argv + i + 1;
            break;
        } else if (!strcmp(word, "--")) {
            words_only = true;
            continue;
        } else if (word[1] == '-') {
            error = take_long(&p, word + 2, next, &used);
        } else {
            error = take_letters(&p, word + 1, next, &used);
        }
        if (error)
            return error;
        if (options->mode == RUN_HELP || options->mode == RUN_VERSION)
            return 0;
        i += used;
    }
    return finish(&p);
}
