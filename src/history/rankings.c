/* SPDX-License-Identifier: GPL-2.0-only */
#include "history/rankings.h"
#include <stdio.h>
#include <string.h>

/* What each view is about. Others are ranked by columns that were asked for alone. */
static const struct {
    const char *view, *columns;
} about[] = {
    {"top", "cpu_pct,wait_pct,iowait_pct,rss_kib"},
    {"cpu", "cpu_pct"},
    {"mem", "rss_kib,peak_kib"},
    {"alloc", "live_kib,alloc_kib_s"},
    {"leaks", "live_kib"},
    {"contention", "wait_ms"},
    {"faults", "lat_ms"},
    {"block", "iowait_pct,read_kib_s,write_kib_s"},
    {"file", "kib"},
    {"files", "read_kib,write_kib"},
    {"calls", "count"},
    {"energy", "joules"},
    {"track", "cpu_pct"},
};

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);

    return n >= m && !strcmp(name + n - m, end);
}

/* Column names carry their unit. */
static enum digest_unit unit_of(const char *view, const char *column)
{
    if (ends_with(column, "_pct"))
        return UNIT_PERCENT;
    if (ends_with(column, "_us") || (ends_with(column, "_kib") && strncmp(view, "file", 4) != 0) ||
        !strcmp(column, "oom_s"))
        return UNIT_LEVEL;
    if (ends_with(column, "_s") || !strcmp(column, "watts"))
        return UNIT_RATE;
    return UNIT_COUNT;
}

/* Is the name in a comma list? */
static bool is_in(const char *list, const char *name)
{
    size_t n = strlen(name);

    for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
        if (!strncmp(p, name, n) && (p[n] == ',' || !p[n]))
            return true;
    return false;
}

bool ranking_of_files(const char *view)
{
    return !strcmp(view, "files");
}

const char *ranking_unit(const struct ranking *ranking)
{
    const char *column = ranking->column, *last = strrchr(column, '_');
    bool bytes = ends_with(column, "kib");

    switch (ranking->unit) {
    case UNIT_PERCENT:
        return "s";
    case UNIT_LEVEL:
        return NULL;
    case UNIT_RATE:
        return !strcmp(column, "watts") ? "J" : strstr(column, "kib") ? "KiB" : "count";
    case UNIT_COUNT:
        return bytes ? "KiB" : last ? last + 1 : !strcmp(column, "joules") ? "J" : "count";
    }
    return NULL;
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
        ranking->unit = unit_of(view->name, name);
    }
    ranked->ranking[ranked->n] = (unsigned char)i;
    ranked->column[ranked->n++] = (unsigned char)column;
}

static void add_rankings(struct digest *digest, const struct record_view *view, const char *of,
                         struct ranked_view *ranked)
{
    const char *columns = digest->columns;

    for (size_t i = 0; i < sizeof about / sizeof *about && !columns; i++)
        columns = !strcmp(about[i].view, view->name) ? about[i].columns : NULL;
    ranked->n = 0;
    for (unsigned i = 0; i < view->n && columns; i++)
        if (is_in(columns, view->columns[i]) && (int)i != ranked->pid && (int)i != ranked->name)
            add_ranking(digest, view, of, i, ranked);
}

void rankings_of(struct digest *digest, const struct record_view *view, const char *by,
                 struct ranked_view *ranked)
{
    *ranked = (struct ranked_view){.pid = -1, .name = -1, .verdict = -1, .by = -1, .part = -1};
    if (!strcmp(view->name, "window"))
        return;
    if (!digest->by && ranking_of_files(view->name)) {
        ranked->name = record_column(view, "file");
    } else if (!strcmp(by, "process")) {
        ranked->name = record_column(view, "comm");
        ranked->pid = record_column(view, "pid");
        if (ranked->pid < 0)
            ranked->pid = record_column(view, "aggressor");
    } else {
        ranked->name = record_column(view, by);
        if (ranked->name < 0 && !strcmp(by, "user"))
            ranked->name = record_column(view, "uid");
    }
    if (ranked->name < 0 && ranked->pid < 0)
        return;
    ranked->verdict = record_column(view, "verdict");
    ranked->by = ranked->verdict < 0 ? -1 : record_column(view, "by");
    /* A domain of power may be part of another. */
    if (!strcmp(view->name, "energy"))
        ranked->part = record_column(view, "domain");
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
