/* SPDX-License-Identifier: GPL-2.0-only */
/* How options go together, and with the views that were asked for. */
#include "cli/options_views.h"
#include <errno.h>
#include <string.h>
#include "base/list.h"
#include "cli/options_value.h"
#include "cli/options_verbs.h"
#include "view/view.h"

void options_note(struct given_options *given, const struct option_spec *spec, const struct view *owner)
{
    for (size_t i = 0; i < given->n; i++)
        if (given->list[i].spec == spec)
            return;
    if (given->n < MAX_GIVEN)
        given->list[given->n++] = (struct given_option){spec, owner};
}

int options_check_verb(const struct given_options *given, enum verb verb, struct error *why)
{
    for (size_t i = 0; i < given->n; i++) {
        const struct option_spec *spec = given->list[i].spec;
        char list[128] = "";
        if (spec->verbs & verb)
            continue;
        for (unsigned bit = 0; bit < VERBS; bit++)
            if (spec->verbs >> bit & 1)
                append_name(list, sizeof list, verb_name(1 << bit));
        return error_set(why, -EINVAL, "%s has no effect on %s: it is for %s", option_label(spec).text,
                         verb_name(verb), list);
    }
    return 0;
}

static bool is_asked(const struct options *o, const struct view *view)
{
    for (size_t i = 0; i < o->nviews; i++)
        if (o->views[i] == view->name)
            return true;
    return false;
}

/* An option of all views has an effect in one of those asked for. */
static int check_needs(const struct options *o, const struct view *const *known,
                       const struct option_spec *spec, struct error *why)
{
    char list[128] = "";

    if (!spec->needs)
        return 0;
    for (size_t i = 0; known[i]; i++) {
        unsigned lacks = known[i]->lacks | (o->mode == RUN_PIN ? known[i]->pin_lacks : 0);
        if (is_asked(o, known[i]) && !(lacks & spec->needs))
            return 0;
        if (is_asked(o, known[i]))
            append_name(list, sizeof list, known[i]->name);
    }
    return *list ? error_set(why, -EINVAL, "%s has no effect on %s", option_label(spec).text, list) : 0;
}

static bool share_source(const struct view *a, const struct view *b)
{
    for (const struct source_use *use = a->sources; use->source; use++)
        for (const struct source_use *other = b->sources; other->source; other++)
            if (use->source == other->source)
                return true;
    return false;
}

/* An option of a view needs that view, or one that uses the same source where that is enough. */
static int check_given(const struct options *o, const struct view *const *known,
                       const struct given_option *given, struct error *why)
{
    const struct view *owner = given->owner;
    const char *name = given->spec->name;

    if (!owner || is_asked(o, owner))
        return 0;
    for (size_t i = 0; given->spec->of_source && known[i]; i++)
        if (is_asked(o, known[i]) && share_source(owner, known[i]))
            return 0;
    return error_set(why, -EINVAL, "--%s needs the view %s: hog %s --%s ..", name, owner->name, owner->name,
                     name);
}

/* Threads have rows only in views that tell them apart. */
static int check_threads(const struct options *o, const struct view *const *known, struct error *why)
{
    bool any = !((o->by | o->with) & ROWS_THREAD) || !o->nviews;

    for (size_t i = 0; known[i] && !any; i++)
        any = is_asked(o, known[i]) && !(known[i]->lacks & NEEDS_THREADS);
    return any ? 0
               : error_set(why, -EINVAL, "%s thread has no effect on %s: its rows are of processes",
                           o->by & ROWS_THREAD ? "--by" : "--with", o->views[0]);
}

/* Words of --by and --with that only one view knows. */
static int check_words(const struct options *o, const struct view *const *known, struct error *why)
{
    for (size_t i = 0; known[i]; i++) {
        const char *name = known[i]->name;
        uint32_t by = known[i]->groups_by & o->by, with = known[i]->shows_with & o->with;
        if (by && (o->nviews != 1 || !is_asked(o, known[i])))
            return error_set(why, -EINVAL, "--by %s needs the view %s and no other: hog %s --by %s ..",
                             rows_word_name(by), name, name, rows_word_name(by));
        if (with && !is_asked(o, known[i]))
            return error_set(why, -EINVAL, "--with %s needs the view %s: hog %s --with %s ..",
                             rows_word_name(with), name, name, rows_word_name(with));
    }
    return 0;
}

/* Options that change rows on their way to lines. */
static int check_rows(struct options *o, struct error *why)
{
    if (o->textfile && o->format != OUT_TEXT && o->format != OUT_PROM)
        return error_set(why, -EINVAL, "--textfile is always in the format prom: another -o is not possible");
    if (o->show && *o->show != '+' && (o->format == OUT_JSON || o->format == OUT_PROM))
        return error_set(why, -EINVAL,
                         "--columns chooses columns of text, tsv and csv: json and prom have all");
    if (o->self && (o->format == OUT_CSV))
        return error_set(why, -EINVAL, "--with self adds a line: csv has only rows");
    if (o->command && (o->format == OUT_CSV || o->format == OUT_PROM))
        return error_set(why, -EINVAL, "a command has one line: -o text, tsv or json");
    if (o->textfile)
        o->format = OUT_PROM;
    if (o->format == OUT_CSV && (o->nviews > 1))
        return error_set(why, -EINVAL, "csv has the columns of one view: ask for one, or use -o tsv or json");
    if (o->human && o->format != OUT_TEXT)
        return error_set(why, -EINVAL, "--human is only for text: other formats keep their units");
    return 0;
}

int options_check_views(struct options *o, const struct view *const *known, const struct given_options *given,
                        struct error *why)
{
    const struct view_request request = {.run = &o->run,
                                         .by = &o->by,
                                         .with = o->with,
                                         .sort = o->sort,
                                         .columns = o->show,
                                         .npids = o->npids,
                                         .only = o->nviews == 1,
                                         .command = o->command != NULL,
                                         .csv = o->format == OUT_CSV};
    int err = 0;

    if (o->by == ROWS_THREAD)
        o->run.threads = true;
    for (size_t i = 0; i < given->n && !err; i++)
        if (!(err = check_given(o, known, &given->list[i], why)))
            err = check_needs(o, known, given->list[i].spec, why);
    for (size_t i = 0; known[i] && !err; i++)
        if (known[i]->check_options && is_asked(o, known[i]))
            err = known[i]->check_options(&request, why);
    o->run.alert_for += !o->run.alert_for;
    if (!err)
        err = check_words(o, known, why);
    if (!err)
        err = check_threads(o, known, why);
    return err ? err : check_rows(o, why);
}
