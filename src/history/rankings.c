/* SPDX-License-Identifier: GPL-2.0-only */
#include "history/rankings.h"
#include "base/list.h"
#include <stdio.h>
#include <string.h>

static const struct column *known_column(const struct digest *digest, const struct record_view *view,
                                         unsigned i)
{
    const char *name = view->columns[i];

    return column_find(digest->schemas, view->name, strlen(view->name), name, strlen(name));
}

/* Of what is not known (another hog recorded it) there is a plain sum. */
static enum digest_total total_of(const struct column *column)
{
    enum column_unit unit = column ? column->unit : UNIT_NONE;

    if (unit == UNIT_PCT)
        return TOTAL_PERCENT;
    if (unit == UNIT_PER_S || unit == UNIT_KIB_PER_S || unit == UNIT_WATTS)
        return TOTAL_RATE;
    return !column || column->rule == COLUMN_SUM ? TOTAL_SUM : TOTAL_NONE;
}

const char *ranking_unit(const struct ranking *ranking)
{
    static const char *const units[UNITS] = {
        [UNIT_NONE] = "count",    [UNIT_COUNT] = "count", [UNIT_PER_S] = "count", [UNIT_US] = "us",
        [UNIT_MS] = "ms",         [UNIT_S] = "s",         [UNIT_PCT] = "s",       [UNIT_KIB] = "KiB",
        [UNIT_KIB_PER_S] = "KiB", [UNIT_JOULES] = "J",    [UNIT_WATTS] = "J",
    };

    return ranking->how == TOTAL_NONE ? NULL : units[ranking->unit];
}

static void add_ranking(struct digest *digest, const struct record_view *view, const char *of,
                        unsigned column, struct ranked_view *ranked)
{
    const char *name = view->columns[column];
    unsigned i = 0;

    while (i < digest->nrankings &&
           (strcmp(digest->rankings[i].view, of) != 0 || strcmp(digest->rankings[i].column, name) != 0))
        i++;
    if (i == DIGEST_RANKINGS || ranked->n == DIGEST_A_VIEW)
        return;
    if (i == digest->nrankings) {
        struct ranking *ranking = &digest->rankings[digest->nrankings++];
        snprintf(ranking->view, sizeof ranking->view, "%s", of);
        memcpy(ranking->column, name, sizeof ranking->column);
        const struct column *known = known_column(digest, view, column);
        ranking->unit = known ? known->unit : UNIT_NONE;
        ranking->how = total_of(known);
        ranking->subject = ranked->subject;
    }
    ranked->ranking[ranked->n] = (unsigned char)i;
    ranked->column[ranked->n++] = (unsigned char)column;
}

static bool is_ranked(const struct digest *digest, const struct record_view *view, unsigned i)
{
    if (digest->columns)
        return list_contains(digest->columns, view->columns[i], strlen(view->columns[i]));
    const struct column *column = known_column(digest, view, i);
    return column && column->use & COLUMN_RANKED;
}

static void add_rankings(struct digest *digest, const struct record_view *view, const char *of,
                         struct ranked_view *ranked)
{
    ranked->n = 0;
    for (unsigned i = 0; i < view->n; i++)
        if (is_ranked(digest, view, i) && (int)i != ranked->pid && (int)i != ranked->name)
            add_ranking(digest, view, of, i, ranked);
}

/* The column with that use, or -1. */
static int column_used(const struct digest *digest, const struct record_view *view, enum column_use use,
                       const struct column **column)
{
    for (unsigned i = 0; i < view->n; i++) {
        *column = known_column(digest, view, i);
        if (*column && (*column)->use == use)
            return (int)i;
    }
    return -1;
}

/* What distinguishes the rows of a view: the process, a column that was asked for, or what the view is
 * about. */
static void find_subject(const struct digest *digest, const struct record_view *view, const char *by,
                         struct ranked_view *ranked)
{
    const struct column *column = NULL;
    int subject = column_used(digest, view, COLUMN_SUBJECT, &column);

    if (!digest->by && subject >= 0 && column->rule == COLUMN_DIM) {
        ranked->name = subject;
        ranked->subject = column->name;
    } else if (!strcmp(by, "process")) {
        ranked->name = record_column(view, "comm");
        ranked->pid = record_column(view, "pid");
        if (ranked->pid < 0 && subject >= 0 && column->rule == COLUMN_TASK)
            ranked->pid = subject;
    } else {
        ranked->name = record_column(view, by);
        if (ranked->name < 0 && !strcmp(by, "user"))
            ranked->name = record_column(view, "uid");
    }
}

void rankings_of(struct digest *digest, const struct record_view *view, const char *by,
                 struct ranked_view *ranked)
{
    const struct column *part = NULL;

    *ranked = (struct ranked_view){.pid = -1, .name = -1, .verdict = -1, .by = -1, .part = -1};
    if (!strcmp(view->name, "window"))
        return;
    find_subject(digest, view, by, ranked);
    if (ranked->name < 0 && ranked->pid < 0)
        return;
    ranked->verdict = record_column(view, "verdict");
    ranked->by = ranked->verdict < 0 ? -1 : record_column(view, "by");
    ranked->part = column_used(digest, view, COLUMN_PART, &part);
    if (ranked->part < 0)
        add_rankings(digest, view, view->name, ranked);
}

void rankings_of_row(struct digest *digest, const struct record *record, struct ranked_view *ranked)
{
    char part[DIGEST_NAME], of[DIGEST_OF];

    if (!record_text(&record->values[ranked->part], part, sizeof part))
        *part = '\0';
    snprintf(of, sizeof of, "%s%s%s", record->view->name, *part ? "/" : "", part);
    if (!strcmp(of, ranked->of))
        return;
    memcpy(ranked->of, of, sizeof of);
    add_rankings(digest, record->view, of, ranked);
}

static uint64_t mix(uint64_t hash, const struct record_value *value)
{
    const char *p = value->at, *end = p + value->length;
    uint64_t word;

    for (; end - p >= 8; p += 8) {
        memcpy(&word, p, 8);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    word = (uint64_t)value->length << 56;
    for (unsigned shift = 0; p < end; p++, shift += 8)
        word ^= (uint64_t)(unsigned char)*p << shift;
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

uint64_t ranked_id(const struct ranked_view *ranked, const struct record *record, uint64_t seed)
{
    uint64_t hash = seed;

    if (ranked->pid >= 0)
        hash = mix(hash, &record->values[ranked->pid]);
    if (ranked->name >= 0)
        hash = mix(hash ^ 0x5bd1e995, &record->values[ranked->name]);
    return hash ? hash : 1;
}
