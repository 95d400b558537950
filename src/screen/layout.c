// SPDX-License-Identifier: GPL-2.0-only
/* Which columns fit. */
#include <string.h>
#include "screen/screen_private.h"

#define LEAST_WORD 12 /* characters of a word that is cut */
#define USUAL_WORD 24
#define FEWEST     6
#define MOST_WORD  40 /* of a word while other columns have no room */

/* What is left out last comes first. */
enum rank { RANK_NARROW, RANK_DEFAULT, RANK_WIDE, RANKS };

static enum rank rank_of(const struct screen_column *column)
{
    unsigned use = column->column ? column->column->use : COLUMN_NARROW;

    if (column->asked)
        return RANK_NARROW;
    return (use & COLUMN_NARROW) == COLUMN_NARROW ? RANK_NARROW
           : use & COLUMN_DEFAULT                 ? RANK_DEFAULT
                                                  : RANK_WIDE;
}

/* A layout in the making: 0 is a column that is left out. */
struct fit {
    const struct screen_view *view;
    bool grouped; /* nothing is known of some columns then */
    unsigned width[SCREEN_COLUMNS];
    unsigned used, room; /* used: with a blank behind each */
};

static unsigned wanted(const struct screen_column *column)
{
    return column->left && column->width > MOST_WORD ? MOST_WORD : column->width;
}

static unsigned least(const struct screen_column *column, unsigned word)
{
    return column->left && column->width > word ? word : column->width;
}

static bool add(struct fit *fit, unsigned i, unsigned width, bool always)
{
    if (!always && fit->used + width > fit->room)
        return false;
    fit->width[i] = width;
    fit->used += width + 1;
    return true;
}

/* Up to `most` characters. added: those of the columns that name the group. */
static void widen_words(struct fit *fit, bool added, unsigned most)
{
    for (unsigned i = 0; i < fit->view->n; i++) {
        const struct screen_column *column = &fit->view->columns[i];
        unsigned left = fit->room + 1 > fit->used ? fit->room + 1 - fit->used : 0,
                 width = least(column, most);
        if (!fit->width[i] || !column->column != added || width <= fit->width[i])
            continue;
        unsigned more = width - fit->width[i] < left ? width - fit->width[i] : left;
        fit->width[i] += more;
        fit->used += more;
    }
}

/* Columns of a rank, in their order, while they fit; nothing is known of some. */
static void add_rank(struct fit *fit, enum rank rank)
{
    for (unsigned i = 0; i < fit->view->n; i++) {
        const struct screen_column *column = &fit->view->columns[i];
        if (!fit->width[i] && rank_of(column) == rank && (rank == RANK_NARROW || column->known))
            add(fit, i, rank == RANK_WIDE ? wanted(column) : least(column, LEAST_WORD), false);
    }
}

static unsigned narrow_width(const struct screen_view *view, unsigned word)
{
    unsigned sum = 0;

    for (unsigned i = 0; i < view->n; i++)
        sum += rank_of(&view->columns[i]) == RANK_NARROW ? least(&view->columns[i], word) + 1 : 0;
    return sum ? sum - 1 : 0;
}

/* The first column and the last stay; words are cut before columns are left out. */
static void fit_by_rank(struct fit *fit)
{
    const struct screen_view *view = fit->view;
    unsigned word = narrow_width(view, LEAST_WORD) <= fit->room ? LEAST_WORD : FEWEST;

    if (view->columns[0].known || !fit->grouped)
        add(fit, 0, least(&view->columns[0], word), true);
    if (view->n > 1)
        add(fit, view->n - 1, least(&view->columns[view->n - 1], word), true);
    for (unsigned i = 0; i < view->n; i++)
        if (!fit->width[i] && rank_of(&view->columns[i]) == RANK_NARROW &&
            (view->columns[i].known || !fit->grouped))
            add(fit, i, least(&view->columns[i], word), false);
    widen_words(fit, true, MOST_WORD);
    widen_words(fit, false, USUAL_WORD);
    add_rank(fit, RANK_DEFAULT);
    widen_words(fit, false, MOST_WORD);
    add_rank(fit, RANK_WIDE);
}

/* All columns: scrolled until the chosen one fits. */
static void fit_all(struct fit *fit, unsigned chosen)
{
    const struct screen_view *view = fit->view;
    unsigned from = 1;

    add(fit, 0, wanted(&view->columns[0]), true);
    if (view->n > 1)
        add(fit, view->n - 1, least(&view->columns[view->n - 1], 15), true);
    for (; chosen && from + 1 < chosen; from++) {
        unsigned sum = fit->used;
        for (unsigned i = from; i < chosen; i++)
            sum += view->columns[i].known ? wanted(&view->columns[i]) + 1 : 0;
        if (sum <= fit->room + 1)
            break;
    }
    for (unsigned i = from; i + 1 < view->n; i++)
        if (view->columns[i].known && !add(fit, i, wanted(&view->columns[i]), false))
            break;
}

void layout_fit(const struct screen *s, const struct screen_view *view, struct layout *layout)
{
    struct fit fit = {
        .view = view, .grouped = s->wish.by, .room = s->width > s->gutter ? s->width - s->gutter : 0};

    layout->n = 0;
    if (!view->n)
        return;
    if (s->wide)
        fit_all(&fit, view == &s->views[s->view] ? s->column : 0);
    else
        fit_by_rank(&fit);
    for (unsigned i = 0; i < view->n; i++) {
        if (!fit.width[i])
            continue;
        layout->column[layout->n] = i + 1;
        layout->width[layout->n++] = fit.width[i];
    }
    if (layout->n && layout->column[layout->n - 1] == view->n && fit.room + 1 > fit.used)
        layout->width[layout->n - 1] += fit.room + 1 - fit.used; /* nothing stands behind the last */
}
