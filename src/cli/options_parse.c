/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/options.h"
#include "cli/options_help.h"
#include "cli/options_table.h"
#include "cli/options_value.h"
#include "cli/options_verbs.h"
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
    struct given_options given;
    struct error *why;
    const struct verb_spec *verb; /* NULL: views */
    size_t nwords;                /* arguments other than options */
    uint64_t interval_ns, count;  /* as arguments; 0: not given */
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
    for (const struct verb_spec *verb = verb_table; verb->word; verb++)
        suggest_consider(&nearest, verb->word);
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
            if (letter ? spec->letter == letter || spec->also == letter
                       : strlen(spec->name) == length && !strncmp(name, spec->name, length))
                return spec;
    return NULL;
}

static int apply(struct parse *p, const struct option_spec *spec, size_t table, const char *value)
{
    const struct view *owner = table ? p->known[table - 1] : NULL;
    void *values = p->options;

    if (owner)
        values = owner->option_values ? owner->option_values : (void *)&p->options->run;
    options_note(&p->given, spec, owner);
    return option_apply(p->options, spec, values, value, p->why);
}

static int unknown_option(struct parse *p, const char *word, size_t length)
{
    const char *nearest = nearest_option(p, word, length, SLIPS);

    if (nearest)
        return error_set(p->why, -EINVAL, "unknown option --%s: did you mean --%s? hog help all lists them",
                         quote_bytes(word, length).text, nearest);
    return error_set(p->why, -EINVAL, "unknown option --%s: hog help all lists them",
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
        if (!next && spec->kind == OPTION_THRESHOLDS)
            p->options->mode = RUN_THRESHOLDS;
        if (!next)
            return spec->kind == OPTION_THRESHOLDS ? 0 : needs_value(p, spec);
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
            return error_set(p->why, -EINVAL, "unknown option -%s: hog help all lists them",
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
    const char *option = nearest_option(p, word, length, 0);
    const char *nearest = nearest_view(p, word, length);
    if (!option && !nearest)
        return error_set(p->why, -EINVAL, "unknown view \"%s\": views are %s", quote_bytes(word, length).text,
                         list);
    return error_set(p->why, -EINVAL, "unknown view \"%s\": views are %s; did you mean %s%s?",
                     quote_bytes(word, length).text, list, option ? "--" : "", option ? option : nearest);
}

static const struct view *known_view(const struct parse *p, const char *word, size_t length)
{
    for (size_t i = 0; p->known[i]; i++)
        if (strlen(p->known[i]->name) == length && !strncmp(word, p->known[i]->name, length))
            return p->known[i];
    return NULL;
}

static int add_view(struct parse *p, const char *word, size_t length)
{
    struct options *o = p->options;
    const struct view *view = known_view(p, word, length);
    const struct verb_spec *verb = view ? NULL : verb_find(word, length);

    if (verb)
        return error_set(p->why, -EINVAL, "%s is no view, and stands first: hog %s %s", verb->word,
                         verb->word, verb->usage);
    if (!view)
        return unknown_view(p, word, length);
    for (size_t i = 0; i < o->nviews; i++)
        if (o->views[i] == view->name)
            return 0;
    if (o->nviews == MAX_VIEWS)
        return error_set(p->why, -EINVAL, "too many views: at most %d at once", MAX_VIEWS);
    o->views[o->nviews++] = view->name;
    return 0;
}

/* The only view asked for; NULL: there is none, or there are several. */
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

    for (size_t i = 0; i < o->nviews; i++)
        for (size_t j = 0; p->known[j]; j++)
            if (p->known[j]->alone && o->views[i] == p->known[j]->name)
                return o->views[i];
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

/* Views come before INTERVAL, and begin with a letter. */
static bool is_for_views(const struct parse *p, const char *word)
{
    if (p->interval_ns)
        return false;
    return p->options->nviews ? *word >= 'a' && *word <= 'z' : !looks_like_number(word);
}

static int take_word(struct parse *p, const char *word)
{
    const struct view *view = only_view(p);

    if (!p->nwords++ && (p->verb = verb_find(word, strlen(word)))) {
        p->options->mode = p->verb->mode;
        return 0;
    }
    int taken = p->verb ? verb_word(p->options, p->verb, word, p->why) : 0;
    if (taken)
        return taken < 0 ? taken : 0;
    if (view && view->takes_pids && !known_view(p, word, strlen(word)))
        return option_pids(p->options, spec_of_kind(OPTION_PIDS), word, p->why);
    if (is_for_views(p, word))
        return take_views(p, word);
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
    return o->nviews ? 0 : error_set(p->why, -EINVAL, "no VIEW given: hog help lists them");
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
        o->interval_ns = o->run.explain ? WHY_INTERVAL : DEFAULT_INTERVAL;
    if (!o->count && o->run.explain)
        o->count = 1;
    return 0;
}

static enum verb verb_of(const struct parse *p)
{
    const struct view *view = only_view(p);

    if (p->options->mode == RUN_THRESHOLDS)
        return VERB_HELP;
    if (p->verb)
        return p->verb->verb;
    if (p->options->command)
        return VERB_COMMAND;
    return view && view->takes_pids ? VERB_TRACK : VERB_VIEWS;
}

/* With the views that are asked for, or the default ones. */
static int finish_views(struct parse *p)
{
    struct options *o = p->options;
    int err = o->nviews ? 0 : default_view(p);

    if (!err)
        err = options_check_verb(&p->given, verb_of(p), p->why);
    if (!err)
        err = options_check_views(o, p->known, &p->given, p->why);
    if (err)
        return err;
    const struct view *view = only_view(p);
    if (view && view->takes_pids && !o->npids)
        return error_set(p->why, -EINVAL, "%s needs at least one PID: hog %s PID.. or -p PID,..", view->name,
                         view->name);
    return finish_window(p);
}

/* What can only be said once everything has been seen. */
static int finish(struct parse *p)
{
    struct options *o = p->options;
    bool viewless = o->mode != RUN_VIEWS && o->mode != RUN_PIN;
    int err = viewless ? options_check_verb(&p->given, verb_of(p), p->why) : 0;

    if (!err)
        err = verb_finish(o, p->verb, p->why);
    o->run.records = o->record;
    o->run.narrow = o->format == OUT_TEXT && !o->wide;
    o->run.handoff_ns = (uint64_t)(o->thresholds.value[HANDOFF_US] * 1e3);
    o->self = o->with & ROWS_SELF;
    o->with &= ~(uint32_t)ROWS_SELF;
    o->top_given = o->run.top != 0;
    if (!o->run.top)
        o->run.top = only_view(p) && only_view(p)->takes_pids ? MAX_PIDS
                     : o->record                              ? RECORD_TOP
                                                              : DEFAULT_TOP;
    for (const char *const *topic = o->topics; *topic && !err; topic++)
        err = help_check(*topic, p->known, p->why);
    if (err || (viewless && o->mode != RUN_READ))
        return err;
    if (!viewless)
        return finish_views(p);
    err = options_check_views(o, p->known, &p->given, p->why);
    return err ? err : finish_window(p);
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

/* After --help: what it is about stands before or behind it. */
static int finish_help(struct parse *p, char **rest)
{
    struct options *o = p->options;
    size_t n = 0;

    if (p->verb)
        o->topics[n++] = p->verb->word;
    for (size_t i = 0; i < o->nviews && n < MAX_TOPICS; i++)
        o->topics[n++] = o->views[i];
    for (; *rest && n < MAX_TOPICS; rest++)
        if (known_view(p, *rest, strlen(*rest)) || (!n && verb_find(*rest, strlen(*rest))))
            o->topics[n++] = *rest;
        else if (!strcmp(*rest, "-w") || !strcmp(*rest, "--wide"))
            o->wide = true;
    return 0;
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
        bool is_option = !words_only && word[0] == '-' && word[1] && !looks_like_number(word);
        if (!is_option) {
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
        if (options->mode == RUN_VERSION)
            return 0;
        if (options->mode == RUN_HELP && is_option && !(p.verb && p.verb->mode == RUN_HELP))
            return finish_help(&p, argv + i + 1);
        i += used;
    }
    return finish(&p);
}
