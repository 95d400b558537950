/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/options.h"
#include "cli/options_history.h"
#include "cli/options_table.h"
#include "cli/options_value.h"
#include "cli/options_views.h"
#include "view/view.h"
#include "base/quote.h"
#include "base/list.h"
#include "base/suggest.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_TOP      10
#define DEFAULT_INTERVAL UINT64_C(1000000000)

struct parse {
    struct options *options;
    const struct view *const *known;
    const struct option_spec *given[MAX_VIEWS]; /* the first option of each view of `known`; NULL: none */
    struct error *why;
    enum verb verb;
    size_t nwords;               /* arguments other than options */
    const char *pin_word;        /* "pin", "read" or "unpin", if that is the first of them */
    uint64_t interval_ns, count; /* as arguments; 0: not given */
};

/* The i-th table: the common one, then those of the views, NULL where a view has none. */
static const struct option_spec *options_of(const struct parse *p, size_t i)
{
    return i ? p->known[i - 1]->options : option_table;
}

static bool has_table(const struct parse *p, size_t i)
{
    return i <= MAX_VIEWS && (!i || p->known[i - 1]);
}

/* The option whose name differs from the word by at most `slips` typos. */
static const char *nearest_option(const struct parse *p, const char *word, size_t length, size_t slips)
{
    struct suggestion nearest = suggest(word, length, slips);

    for (size_t i = 0; has_table(p, i); i++)
        for (const struct option_spec *spec = options_of(p, i); spec && spec->name; spec++)
            if (!spec->hidden)
                suggest_consider(&nearest, spec->name);
    return nearest.name;
}

static const char *nearest_view(const struct parse *p, const char *word, size_t length)
{
    struct suggestion nearest = suggest(word, length, SLIPS);

    for (size_t i = 0; p->known[i]; i++)
        suggest_consider(&nearest, p->known[i]->name);
    suggest_consider(&nearest, "doctor");
    return nearest.name;
}

/* --- options --- */

static int needs_value(struct parse *p, const struct option_spec *spec)
{
    return error_set(p->why, -EINVAL, "option %s needs a value: %s", option_label(spec).text, spec->argument);
}

/* By name, or by letter where that is not 0. `table`: the number of its table. */
static const struct option_spec *find_option(const struct parse *p, const char *name, size_t length,
                                             char letter, size_t *table)
{
    for (*table = 0; has_table(p, *table); ++*table)
        for (const struct option_spec *spec = options_of(p, *table); spec && spec->name; spec++)
            if (letter ? spec->letter == letter
                       : strlen(spec->name) == length && !strncmp(name, spec->name, length))
                return spec;
    return NULL;
}

static int apply(struct parse *p, const struct option_spec *spec, size_t table, const char *value)
{
    void *values = p->options;

    if (table) {
        values = p->known[table - 1]->option_values;
        if (!values)
            values = &p->options->run;
        if (!p->given[table - 1])
            p->given[table - 1] = spec;
    }
    return option_apply(p->options, spec, values, value, p->why);
}

static int unknown_option(struct parse *p, const char *word, size_t length)
{
    const char *nearest = nearest_option(p, word, length, SLIPS);

    if (nearest)
        return error_set(p->why, -EINVAL, "unknown option --%s: did you mean --%s? --help lists all options",
                         quote_bytes(word, length).text, nearest);
    return error_set(p->why, -EINVAL, "unknown option --%s: --help lists all options",
                     quote_bytes(word, length).text);
}

/* --name, --name=value or --name value. */
static int take_long(struct parse *p, const char *word, const char *next, int *used)
{
    size_t length = strcspn(word, "="), table;
    const char *value = word[length] ? word + length + 1 : NULL;
    const struct option_spec *spec = find_option(p, word, length, 0, &table);

    if (!spec)
        return unknown_option(p, word, length);
    if (!spec->argument && value)
        return error_set(p->why, -EINVAL, "option %s takes no value", option_label(spec).text);
    if (spec->argument && !value) {
        if (!next)
            return needs_value(p, spec);
        value = next;
        *used = 1;
    }
    return apply(p, spec, table, value ? value : "");
}

/* -t, -tv, -k5, -k 5. */
static int take_letters(struct parse *p, const char *letters, const char *next, int *used)
{
    for (; *letters; letters++) {
        size_t table;
        const struct option_spec *spec = find_option(p, NULL, 0, *letters, &table);
        if (!spec)
            return error_set(p->why, -EINVAL, "unknown option -%s: --help lists all options",
                             quote_bytes(letters, (*letters & 0x80) ? strlen(letters) : 1).text);
        if (!spec->argument) {
            int error = apply(p, spec, table, "");
            if (error)
                return error;
            continue;
        }
        if (letters[1])
            return apply(p, spec, table, letters + 1);
        if (!next)
            return needs_value(p, spec);
        *used = 1;
        return apply(p, spec, table, next);
    }
    return 0;
}

/* --- arguments --- */

static int unknown_view(struct parse *p, const char *word, size_t length)
{
    char list[160] = "";

    for (size_t i = 0; p->known[i]; i++)
        append_name(list, sizeof list, p->known[i]->name);
    append_name(list, sizeof list, "doctor");
    const char *option = nearest_option(p, word, length, 0);
    const char *nearest = nearest_view(p, word, length);
    if (!option && !nearest)
        return error_set(p->why, -EINVAL, "unknown view \"%s\": views are %s", quote_bytes(word, length).text,
                         list);
    return error_set(p->why, -EINVAL, "unknown view \"%s\": views are %s; did you mean %s%s?",
                     quote_bytes(word, length).text, list, option ? "--" : "", option ? option : nearest);
}

static int add_view(struct parse *p, const char *word, size_t length)
{
    struct options *o = p->options;
    const char *name = NULL;

    if (length == strlen("doctor") && !strncmp(word, "doctor", length))
        name = "doctor";
    for (size_t i = 0; p->known[i] && !name; i++)
        if (strlen(p->known[i]->name) == length && !strncmp(word, p->known[i]->name, length))
            name = p->known[i]->name;
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

/* The only view asked for; NULL: there is none, or there are several, or it is `doctor`. */
static const struct view *only_view(const struct parse *p)
{
    for (size_t i = 0; p->known[i]; i++)
        if (p->options->nviews == 1 && p->options->views[0] == p->known[i]->name)
            return p->known[i];
    return NULL;
}

/* The first that cannot be combined with others; NULL: none. */
static const char *loner(const struct parse *p)
{
    const struct options *o = p->options;

    for (size_t i = 0; i < o->nviews; i++) {
        if (!strcmp(o->views[i], "doctor"))
            return o->views[i];
        for (size_t j = 0; p->known[j]; j++)
            if (p->known[j]->alone && o->views[i] == p->known[j]->name)
                return o->views[i];
    }
    return NULL;
}

static int take_views(struct parse *p, const char *list)
{
    while (list) {
        const char *name;
        size_t length = list_word(&list, &name);
        int error = add_view(p, name, length);
        if (error)
            return error;
    }
    const char *alone = p->options->nviews > 1 ? loner(p) : NULL;
    return alone ? error_set(p->why, -EINVAL, "%s cannot be combined with other views", alone) : 0;
}

static const struct option_spec *spec_of_kind(enum option_kind kind)
{
    const struct option_spec *spec = option_table;
    while (spec->kind != kind)
        spec++;
    return spec;
}

/* No view begins like this. */
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
    p->options->run.pinned = word;
    return 0;
}

/* A word after DIR. */
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
    if (options_is_doctor(p->options))
        return error_set(p->why, -EINVAL, "unexpected \"%s\": doctor takes no INTERVAL and no COUNT",
                         quote(word).text);
    if (only_view(p) && only_view(p)->takes_pids)
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

    for (size_t i = 0; p->known[i] && !o->nviews; i++)
        if (o->mode == RUN_PIN ? p->known[i]->pinned_by_default : p->known[i]->is_default)
            o->views[o->nviews++] = p->known[i]->name;
    return o->nviews ? 0 : error_set(p->why, -EINVAL, "no VIEW given: --help lists all views");
}

/* hog read and unpin take the views from the directory. */
static int check_pin(struct parse *p)
{
    const struct options *o = p->options;

    if (!p->pin_word)
        return 0;
    if (!o->run.pinned)
        return error_set(p->why, -EINVAL, "%s needs DIR: a directory in a BPF file system, like %s",
                         p->pin_word, "/sys/fs/bpf/hog");
    if (o->mode != RUN_READ && (o->interval_ns || o->count || o->npids))
        return error_set(p->why, -EINVAL,
                         "%s takes neither INTERVAL, COUNT nor PIDs: those are for hog read DIR",
                         p->pin_word);
    if (o->mode == RUN_PIN && options_is_doctor(p->options))
        return error_set(p->why, -EINVAL, "doctor cannot be pinned");
    return 0;
}

static int finish_doctor(struct parse *p)
{
    struct options *o = p->options;

    if (!options_is_doctor(o))
        return 0;
    if (p->verb == VERB_RECORD)
        return error_set(p->why, -EINVAL, "doctor measures nothing: there is nothing to record");
    if (o->interval_ns || o->count)
        return error_set(p->why, -EINVAL, "doctor takes no INTERVAL and no COUNT");
    o->mode = RUN_DOCTOR;
    o->nviews = 0;
    return 0;
}

static int finish_window(struct parse *p)
{
    struct options *o = p->options;
    const struct view *view = only_view(p);

    if (p->interval_ns && o->interval_ns)
        return error_set(p->why, -EINVAL, "interval given twice: as INTERVAL and with -i");
    if (p->count && o->count)
        return error_set(p->why, -EINVAL, "count given twice: as COUNT and with -n");
    if (p->interval_ns)
        o->interval_ns = p->interval_ns;
    if (p->count)
        o->count = p->count;
    if (!o->interval_ns && view)
        o->interval_ns = o->command ? view->command_interval_ns : view->interval_ns;
    if (!o->interval_ns)
        o->interval_ns = DEFAULT_INTERVAL;
    return 0;
}

/* What can only be said once everything has been seen. */
static int finish(struct parse *p)
{
    struct options *o = p->options;
    bool unnamed = o->mode == RUN_READ || o->mode == RUN_UNPIN;
    int error = verb_finish(o, p->verb, p->why);

    o->run.records = o->record;
    o->run.handoff_ns = (uint64_t)(o->thresholds.value[HANDOFF_US] * 1e3);
    o->top_given = o->run.top != 0;
    if (!o->run.top)
        o->run.top = p->verb == VERB_RECORD ? RECORD_TOP : DEFAULT_TOP;
    if (!error && (o->mode == RUN_REPORT || o->mode == RUN_DIFF))
        return 0;
    if (!error)
        error = check_pin(p);
    if (!error && !o->nviews && !unnamed)
        error = default_view(p);
    if (error || o->mode == RUN_THRESHOLDS)
        return error;
    error = options_check_views(o, p->known, p->given, p->why);
    if (!error)
        error = finish_doctor(p);
    if (error)
        return error;
    const struct view *view = only_view(p);
    if (view && view->takes_pids && !o->npids)
        return error_set(p->why, -EINVAL, "%s needs at least one PID: hog %s PID.. or -p PID,..", view->name,
                         view->name);
    return finish_window(p);
}

static void reset(struct parse *p)
{
    struct options *o = p->options;

    *o = (struct options){.keep = RECORD_KEEP};
    thresholds_default(&o->thresholds);
    o->run.thresholds = &o->thresholds;
    for (size_t i = 0; p->known[i]; i++)
        if (p->known[i]->option_values)
            memset(p->known[i]->option_values, 0, p->known[i]->option_bytes);
}

/* -- after a view that takes a command: the rest is that. */
static int take_command(struct parse *p, char **rest)
{
    const char *name = only_view(p)->name;

    if (!*rest)
        return error_set(p->why, -EINVAL, "a command must follow --: hog %s -- COMMAND ARGUMENTS..", name);
    p->options->command = rest;
    return 0;
}

int options_parse(struct options *options, int argc, char **argv, const struct view *const *known,
                  struct error *why)
{
    struct parse p = {.options = options, .known = known, .why = why};
    bool words_only = false;

    reset(&p);
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *next = i + 1 < argc ? argv[i + 1] : NULL;
        int error = 0, used = 0;
        if (words_only || word[0] != '-' || !word[1] || looks_like_number(word)) {
            error = take_word(&p, word);
        } else if (!strcmp(word, "--") && only_view(&p) && only_view(&p)->takes_command) {
            error = take_command(&p, argv + i + 1);
            used = argc - i;
        } else if (!strcmp(word, "--")) {
            words_only = true;
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
