/* SPDX-License-Identifier: GPL-2.0-only */
#include "history/rankings.h"
#include <stdio.h>
#include <string.h>

/* What each view is about. Of others, all that is not who it is of would be too much: the first number. */
static const struct {
    const char *view, *columns;
} about[] = {
    {"top", "cpu_pct,wait_pct,iowait_pct,rss_kib"},
    {"cpu", "cpu_pct"},
    {"mem", "rss_kib,peak_kib"},
    {"alloc", "live_kib,alloc_kib_s"},
    {"contention", "wait_ms"},
    {"faults", "lat_ms"},
    {"block", "iowait_pct,read_kib_s,write_kib_s"},
    {"file", "kib"},
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
    if (ends_with(column, "_us") || (ends_with(column, "_kib") && strcmp(view, "file") != 0) ||
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

static void add_ranking(struct digest *digest, const struct record_view *view, unsigned column,
                        struct ranked_view *ranked)
{
    const char *name = view->columns[column];
    unsigned i = 0;

    while (i < digest->nrankings && (strcmp(digest->rankings[i].view, view->name) != 0 ||
                                     strcmp(digest->rankings[i].column, name) != 0))
        i++;
    if (i == DIGEST_RANKINGS || ranked->n == DIGEST_A_VIEW)
        return;
    if (i == digest->nrankings) {
        struct ranking *ranking = &digest->rankings[digest->nrankings++];
        memcpy(ranking->view, view->name, sizeof ranking->view);
        memcpy(ranking->column, name, sizeof ranking->column);
        ranking->unit = unit_of(view->name, name);
    }
    ranked->ranking[ranked->n] = (unsigned char)i;
    ranked->column[ranked->n++] = (unsigned char)column;
}

void rankings_of(struct digest *digest, const struct record_view *view, struct ranked_view *ranked)
{
    const char *columns = digest->columns;

    *ranked = (struct ranked_view){.pid = -1, .name = -1, .verdict = -1, .by = -1};
    if (!strcmp(view->name, "window"))
        return;
    for (size_t i = 0; i < sizeof about / sizeof *about && !columns; i++)
        columns = !strcmp(about[i].view, view->name) ? about[i].columns : NULL;
    ranked->name = record_column(view, "comm");
    if (!strcmp(digest->by, "process")) {
        ranked->pid = record_column(view, "pid");
        if (ranked->pid < 0)
            ranked->pid = record_column(view, "aggressor");
    } else {
        ranked->name = record_column(view, digest->by);
        if (ranked->name < 0 && !strcmp(digest->by, "user"))
            ranked->name = record_column(view, "uid");
    }
    if (ranked->name < 0 && ranked->pid < 0)
        return;
    ranked->verdict = record_column(view, "verdict");
    ranked->by = ranked->verdict < 0 ? -1 : record_column(view, "by");
    for (unsigned i = 0; i < view->n && columns; i++)
        if (is_in(columns, view->columns[i]) && (int)i != ranked->pid && (int)i != ranked->name)
            add_ranking(digest, view, i, ranked);
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
