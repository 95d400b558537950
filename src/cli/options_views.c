/* SPDX-License-Identifier: GPL-2.0-only */
/* How options go together, and with the views that were asked for. */
#include "cli/options_views.h"
#include <errno.h>
#include <string.h>
#include "view/view.h"

bool options_is_doctor(const struct options *o)
{
    return o->nviews == 1 && !strcmp(o->views[0], "doctor");
}

static bool is_asked(const struct options *o, const struct view *view)
{
    for (size_t i = 0; i < o->nviews; i++)
        if (o->views[i] == view->name)
            return true;
    return false;
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
static int check_given(const struct options *o, const struct view *const *known, const struct view *owner,
                       const struct option_spec *given, struct error *why)
{
    if (!given || is_asked(o, owner))
        return 0;
    for (size_t i = 0; given->of_source && known[i]; i++)
        if (is_asked(o, known[i]) && share_source(owner, known[i]))
            return 0;
    return error_set(why, -EINVAL, "--%s needs the view %s: hog %s --%s ..", given->name, owner->name,
                     owner->name, given->name);
}

/* Words of --by that only one view knows: its check_options() has cleared them by now. */
static int check_by(const struct options *o, const struct view *const *known, struct error *why)
{
    if (!(o->by & ROWS_MOUNT))
        return 0;
    for (size_t i = 0; known[i]; i++)
        if (known[i]->groups_by & o->by)
            return error_set(why, -EINVAL, "--by %s needs the view %s and no other: hog %s --by %s ..",
                             rows_word_name(o->by), known[i]->name, known[i]->name, rows_word_name(o->by));
    return 0;
}

/* Options that change rows on their way to lines. */
static int check_rows(struct options *o, struct error *why)
{
    bool waits = o->by || o->sort || o->format == OUT_PROM || o->textfile;

    if (o->run.explain && (waits || o->format == OUT_CSV))
        return error_set(why, -EINVAL,
                         "%s adds lines below each row: not possible with --by, --sort, csv and prom",
                         o->run.why_pid ? "--why" : "--explain");
    if (options_is_doctor(o) && (o->format == OUT_CSV || o->format == OUT_PROM))
        return error_set(why, -EINVAL, "doctor prints sentences: -o text, tsv or json");
    if (o->textfile && o->format != OUT_TEXT && o->format != OUT_PROM)
        return error_set(why, -EINVAL, "--textfile is always in the format prom: another -o is not possible");
    if (o->textfile)
        o->format = OUT_PROM;
    if (o->format == OUT_CSV && (o->nviews > 1))
        return error_set(why, -EINVAL, "csv has the columns of one view: ask for one, or use -o tsv or json");
    if (o->human && (o->format != OUT_TEXT || o->record || o->mode == RUN_REPORT || o->mode == RUN_DIFF))
        return error_set(why, -EINVAL, "-h/--human is only for text: other formats keep their units");
    return 0;
}

int options_check_views(struct options *o, const struct view *const *known,
                        const struct option_spec *const *given, struct error *why)
{
    const struct view_request request = {.run = &o->run,
                                         .by = &o->by,
                                         .npids = o->npids,
                                         .only = o->nviews == 1,
                                         .command = o->command != NULL,
                                         .csv = o->format == OUT_CSV};
    int err = 0;

    if (o->by == ROWS_THREAD)
        o->run.threads = true;
    for (size_t i = 0; i < MAX_VIEWS && known[i] && !err; i++)
        err = check_given(o, known, known[i], given[i], why);
    for (size_t i = 0; known[i] && !err; i++)
        if (known[i]->check_options && is_asked(o, known[i]))
            err = known[i]->check_options(&request, why);
    o->run.alert_for += !o->run.alert_for;
    if (!err)
        err = check_by(o, known, why);
    return err ? err : check_rows(o, why);
}
