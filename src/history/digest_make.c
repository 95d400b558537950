/* SPDX-License-Identifier: GPL-2.0-only */
#include "history/digest.h"
#include "history/flames.h"
#include "history/rankings.h"
#include "history/when.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#define CANDIDATES 8192

/* Of the first reading: the weight of a row in each ranking of its view. */
struct candidate {
    uint64_t id;
    unsigned char ranking[DIGEST_A_VIEW]; /* 1 + index; 0: none */
    float area[DIGEST_A_VIEW];
};

/* One reading of the recording. */
struct pass {
    struct digest *d;
    struct reader *reader;
    const struct digest_range *range;
    uint64_t seed;
    struct ranked_view views[RECORD_MOST_VIEWS];
    struct row_columns columns[RECORD_MOST_VIEWS];
    struct flame_columns flames[RECORD_MOST_VIEWS];
    unsigned definitions; /* of the reader, when `views` was made */
    bool inside;          /* the window is one of those asked for */
    int start, length, lost, by, kills;
    uint64_t begin; /* of the window, ns */
    double seconds, lost_now;
    unsigned slot;
    struct hash_table candidates;
    struct hash_table prefilter; /* of struct place */
    bool second;
};

struct place {
    uint64_t id;
    unsigned first; /* series */
};

/* --- both readings --- */

/* What rows are of: as was asked for, or what they were when they were recorded. */
static const char *by_of(const struct digest *d)
{
    const char *by = d->by ? d->by : d->grouped;

    return strcmp(by, "process") != 0 ? by : d->named ? "comm" : by;
}

static void look_up_views(struct pass *p)
{
    for (unsigned i = 0; i < p->reader->nviews; i++) {
        const struct record_view *view = &p->reader->views[i];
        rankings_of(p->d, view, by_of(p->d), &p->views[i]);
        row_filter_columns(&p->d->filter, view, &p->columns[i]);
        flames_columns(p->d->schemas, view, &p->flames[i]);
        if (!strcmp(view->name, "window")) {
            p->start = record_column(view, "start");
            p->length = record_column(view, "dur_ms");
            p->lost = record_column(view, "lost");
            p->by = record_column(view, "by");
        }
        if (!strcmp(view->name, "totals"))
            p->kills = record_column(view, "oom_kills");
    }
    p->definitions = p->reader->definitions;
}

/* Of a day at most: a clock that was set must not make time. */
static double length_of(const struct pass *p, const struct record *record)
{
    double ms;

    if (p->length < 0 || !record_number(&record->values[p->length], &ms) || !(ms >= 0 && ms <= 86400e3))
        return 0;
    return ms / 1e3;
}

/* Threads of a process are one, as if recorded without -t. */
static void note_grouping(struct pass *p, const struct record *record)
{
    char by[RECORD_MOST_NAME];

    if (p->by < 0 || !record_text(&record->values[p->by], by, sizeof by) || !strcmp(by, "thread"))
        memcpy(by, "process", 8);
    if (!strcmp(by, p->d->grouped))
        return;
    memcpy(p->d->grouped, by, sizeof by);
    look_up_views(p);
}

/* The window before may have had no end: what its rows have added up to does not count. */
static void forget_window(struct digest *d)
{
    for (unsigned i = 0; i < d->nseries; i++)
        d->series[i].now = -1;
    for (unsigned i = 0; i < d->nrankings; i++)
        d->rankings[i].now = (struct digest_worst){0};
}

static void enter_window(struct pass *p, const struct record *record)
{
    struct digest *d = p->d;
    uint64_t start;

    p->inside = false;
    if (p->start < 0 || !when_recorded(record->values[p->start].at, record->values[p->start].length, &start))
        return;
    p->inside = start >= p->range->from && start < p->range->to;
    if (!p->inside)
        return;
    note_grouping(p, record);
    p->begin = start;
    p->seconds = length_of(p, record);
    if (p->lost < 0 || !record_number(&record->values[p->lost], &p->lost_now))
        p->lost_now = 0;
    if (p->second) {
        double span = (double)(d->last - d->first) + 1, at = (double)p->begin - (double)d->first;
        p->slot = at > 0 && at < span ? (unsigned)(at / span * d->slots) : at > 0 ? d->slots - 1 : 0;
        forget_window(d);
    }
}

/* The first reading: it is whole, and counts. */
static void count_window(const struct pass *p)
{
    struct digest *d = p->d;

    if (p->lost_now > 0 && p->lost_now < 1e15)
        d->lost += (uint64_t)p->lost_now;
    d->seconds += p->seconds;
    d->first = !d->windows || p->begin < d->first ? p->begin : d->first;
    d->last = p->begin > d->last ? p->begin : d->last;
    d->windows++;
}

static void count_kills(const struct pass *p, const struct record *record)
{
    double kills;

    if (p->kills < 0 || !record_number(&record->values[p->kills], &kills) || !(kills > 0 && kills < 1e6))
        return;
    p->d->oom_kills += (uint64_t)kills;
    p->d->oom_at = p->begin;
}

/* What a row has in the i-th ranking of its view. */
static double value_of(const struct ranked_view *ranked, unsigned i, const struct record *record)
{
    double value;

    return record_number(&record->values[ranked->column[i]], &value) && value > 0 ? value : 0;
}

/* --- the first: what is heavy --- */

/* More than this share of a ranking so far: a bounded number stays in each. */
struct lightness {
    const struct digest *d;
    double share;
};

static bool is_heavy(const void *context, const void *entry)
{
    const struct lightness *l = context;
    const struct candidate *c = entry;

    for (unsigned i = 0; i < DIGEST_A_VIEW; i++)
        if (c->ranking[i] && c->area[i] > l->share * l->d->rankings[c->ranking[i] - 1].area)
            return true;
    return false;
}

static struct candidate *find_candidate(struct pass *p, uint64_t id)
{
    struct candidate *c = hash_table_find_or_add(&p->candidates, id);

    if (c || p->candidates.n < p->candidates.most)
        return c;
    struct lightness l = {p->d, 2.0 * p->d->nrankings / CANDIDATES};
    size_t before = p->candidates.n;
    hash_table_keep(&p->candidates, is_heavy, &l);
    p->d->dropped += before - p->candidates.n;
    return hash_table_find_or_add(&p->candidates, id);
}

static int weigh(struct pass *p, const struct ranked_view *ranked, const struct record *record, uint64_t id)
{
    struct candidate *c = NULL;

    for (unsigned i = 0; i < ranked->n; i++) {
        double area = value_of(ranked, i, record) * p->seconds;
        if (area <= 0)
            continue;
        if (!c)
            c = find_candidate(p, id);
        if (!c)
            return -ENOMEM;
        c->ranking[i] = (unsigned char)(ranked->ranking[i] + 1);
        c->area[i] += (float)area;
        p->d->rankings[ranked->ranking[i]].area += area;
    }
    return 0;
}

/* --- the second: those chosen --- */

static void name_series(struct series *s, const struct ranked_view *ranked, const struct record *record)
{
    if (s->windows || s->now >= 0)
        return;
    if (ranked->pid < 0 || !record_text(&record->values[ranked->pid], s->pid, sizeof s->pid))
        s->pid[0] = '\0';
    if (ranked->name < 0 || !record_text(&record->values[ranked->name], s->name, sizeof s->name))
        s->name[0] = '\0';
}

static void note_verdict(const struct digest *d, struct series *s, const struct ranked_view *ranked,
                         const struct record *record)
{
    const struct record_value *verdict = &record->values[ranked->verdict];

    for (unsigned i = 0; i < d->nverdicts; i++)
        if (strlen(d->verdicts[i]) == verdict->length &&
            !memcmp(d->verdicts[i], verdict->at, verdict->length)) {
            s->verdicts[i]++;
            if (i >= DIGEST_WELL && ranked->by >= 0)
                record_text(&record->values[ranked->by], s->by, sizeof s->by);
        }
}

static void note_most(struct digest_worst *now, double value, const struct ranked_view *ranked,
                      const struct record *record)
{
    now->value += value;
    if (value <= now->most)
        return;
    now->most = value;
    if (ranked->pid < 0 || !record_text(&record->values[ranked->pid], now->pid, sizeof now->pid))
        now->pid[0] = '\0';
    if (ranked->name < 0 || !record_text(&record->values[ranked->name], now->name, sizeof now->name))
        now->name[0] = '\0';
}

static void look_closely(struct pass *p, const struct ranked_view *ranked, const struct record *record,
                         uint64_t id)
{
    const struct place *place = hash_table_find(&p->prefilter, id);

    for (unsigned i = 0; i < ranked->n; i++) {
        double value = value_of(ranked, i, record);
        if (value > 0)
            note_most(&p->d->rankings[ranked->ranking[i]].now, value, ranked, record);
        for (unsigned at = place ? place->first : 0; at; at = p->d->series[at - 1].next) {
            struct series *s = &p->d->series[at - 1];
            if (s->ranking != ranked->ranking[i])
                continue;
            name_series(s, ranked, record);
            s->now = (s->now > 0 ? s->now : 0) + value;
            if (ranked->verdict >= 0)
                note_verdict(p->d, s, ranked, record);
        }
    }
}

static double total_of(enum digest_total how, double value, double seconds)
{
    return how == TOTAL_SUM ? value : how == TOTAL_PERCENT ? value * seconds / 100 : value * seconds;
}

static void keep_worst(struct ranking *ranking, uint64_t start)
{
    struct digest_worst now = ranking->now;

    ranking->now = (struct digest_worst){0};
    now.start = start;
    for (unsigned i = 0; i < DIGEST_WORST && now.value > 0; i++)
        if (now.value > ranking->worst[i].value) {
            struct digest_worst other = ranking->worst[i];
            ranking->worst[i] = now;
            now = other;
        }
}

/* The window is whole: what its rows have added up to counts. */
static void leave_window(struct pass *p)
{
    struct digest *d = p->d;

    d->slot_seconds[p->slot] += (float)p->seconds;
    for (unsigned i = 0; i < d->nseries; i++) {
        struct series *s = &d->series[i];
        if (s->now < 0)
            continue;
        s->windows++;
        s->seconds += p->seconds;
        s->area += s->now * p->seconds;
        s->total += total_of(d->rankings[s->ranking].how, s->now, p->seconds);
        if (s->buckets)
            s->buckets[digest_bucket(s->now)]++;
        if (s->now > s->peak) {
            s->peak = s->now;
            s->peak_at = p->begin;
        }
        if (s->line)
            s->line[p->slot] += (float)(s->now * p->seconds);
        s->now = -1;
    }
    for (unsigned i = 0; i < d->nrankings; i++) {
        d->rankings[i].line[p->slot] += (float)(d->rankings[i].now.value * p->seconds);
        keep_worst(&d->rankings[i], p->begin);
    }
}

/* --- a reading --- */

static int take_row(struct pass *p, const struct record *record)
{
    size_t view = (size_t)(record->view - p->reader->views);
    struct ranked_view *ranked = &p->views[view];

    if (!row_filter_passes(&p->d->filter, &p->columns[view], record))
        return 0;
    if (p->second && p->d->lines && p->flames[view].stack >= 0 &&
        flames_add(&p->d->flames, &p->flames[view], record, p->seconds))
        return -ENOMEM;
    if (ranked->part >= 0)
        rankings_of_row(p->d, record, ranked);
    if (!ranked->n)
        return 0;
    uint64_t id = ranked_id(ranked, record, p->seed + (uint64_t)(ranked->ranking[0]) * 0x51ed270b);
    if (!p->second)
        return weigh(p, ranked, record, id);
    look_closely(p, ranked, record, id);
    return 0;
}

static int read_all(struct pass *p, struct error *why)
{
    static struct record record;
    int n;

    reader_rewind(p->reader);
    p->definitions = p->reader->definitions - 1;
    while ((n = reader_next(p->reader, &record, why)) > 0) {
        if (!record.view) {
            if (p->inside && p->second)
                leave_window(p);
            else if (p->inside)
                count_window(p);
            p->inside = false;
            continue;
        }
        if (p->definitions != p->reader->definitions)
            look_up_views(p);
        if (!strcmp(record.view->name, "window"))
            enter_window(p, &record);
        else if (p->inside && !p->second && !strcmp(record.view->name, "totals"))
            count_kills(p, &record);
        else if (p->inside && take_row(p, &record))
            return error_set(why, -ENOMEM, "out of memory");
    }
    return n;
}

/* Puts the heaviest of a ranking into series, the heaviest first. */
static void choose(struct pass *p, unsigned ranking)
{
    struct digest *d = p->d;
    struct ranking *r = &d->rankings[ranking];
    double *areas = calloc(d->top + 1, sizeof *areas);

    r->first = d->nseries;
    for (size_t i = 0; areas && i < p->candidates.n; i++) {
        const struct candidate *c = hash_table_at(&p->candidates, i);
        unsigned which = 0;
        while (which < DIGEST_A_VIEW && c->ranking[which] != ranking + 1)
            which++;
        double area = which < DIGEST_A_VIEW ? (double)c->area[which] : 0;
        if (area <= 0)
            continue;
        unsigned at = r->n;
        while (at && areas[at - 1] < area)
            at--;
        if (at == d->top)
            continue;
        unsigned last = r->n < d->top ? r->n : d->top - 1;
        memmove(areas + at + 1, areas + at, (last - at) * sizeof *areas);
        for (unsigned j = last; j > at; j--)
            d->series[r->first + j].id = d->series[r->first + j - 1].id;
        areas[at] = area;
        d->series[r->first + at].id = c->id;
        r->n = last + 1;
    }
    free(areas);
    d->nseries += r->n;
}

static int place_series(struct pass *p, struct error *why)
{
    struct digest *d = p->d;

    for (unsigned i = 0; i < d->nrankings; i++) {
        choose(p, i);
        for (unsigned j = 0; j < d->rankings[i].n; j++)
            d->series[d->rankings[i].first + j].ranking = i;
    }
    for (unsigned i = 0; i < d->nseries; i++) {
        struct series *s = &d->series[i];
        struct place *place = hash_table_find_or_add(&p->prefilter, s->id);
        if (place) {
            s->next = place->first;
            place->first = i + 1;
        }
        if (d->lines)
            s->line = calloc(DIGEST_SLOTS, sizeof *s->line);
        if (d->quantiles)
            s->buckets = calloc(DIGEST_BUCKETS, sizeof *s->buckets);
        if (!place || (d->lines && !s->line) || (d->quantiles && !s->buckets))
            return error_set(why, -ENOMEM, "out of memory");
        s->now = -1;
    }
    return 0;
}

static int by_area(const void *a, const void *b)
{
    double x = ((const struct series *)a)->area, y = ((const struct series *)b)->area;

    return (x < y) - (x > y);
}

int digest_make(struct digest *d, struct reader *reader, const struct digest_range *range, struct error *why)
{
    const void *random = (const void *)getauxval(AT_RANDOM);
    struct pass p = {.d = d,
                     .reader = reader,
                     .range = range,
                     .start = -1,
                     .length = -1,
                     .lost = -1,
                     .by = -1,
                     .kills = -1,
                     .candidates = {.size = sizeof(struct candidate), .most = CANDIDATES},
                     .prefilter = {.size = sizeof(struct place), .most = DIGEST_SERIES}};

    memcpy(d->grouped, "process", 8);
    if (random)
        memcpy(&p.seed, random, sizeof p.seed); /* names cannot be made to collide */
    d->rankings = calloc(DIGEST_RANKINGS, sizeof *d->rankings);
    int err = d->rankings ? read_all(&p, why) : error_set(why, -ENOMEM, "out of memory");
    if (!err) {
        unsigned room = d->nrankings ? DIGEST_SERIES / d->nrankings : DIGEST_SERIES;
        d->top = d->top < room ? d->top : room;
        d->series = calloc((size_t)d->top * d->nrankings + 1, sizeof *d->series);
        err = d->series ? place_series(&p, why) : error_set(why, -ENOMEM, "out of memory");
    }
    hash_table_free(&p.candidates);
    p.second = true;
    d->slots = d->windows < DIGEST_SLOTS ? (unsigned)d->windows : DIGEST_SLOTS;
    if (!err && d->nseries && d->windows)
        err = read_all(&p, why);
    hash_table_free(&p.prefilter);
    for (unsigned i = 0; !err && i < d->nrankings; i++)
        qsort(d->series + d->rankings[i].first, d->rankings[i].n, sizeof *d->series, by_area);
    return err;
}
