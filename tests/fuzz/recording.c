// SPDX-License-Identifier: GPL-2.0-only
/* Recordings ("@rec", and "@rec.1" for what was before that): a report of them has possible numbers, or there
 * is an error with a reason; and no name leaves its place in the page. */
#include "tests/fuzz/fuzz.h"
#include "history/digest.h"
#include "history/html.h"
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define TOP_COLUMNS(X)                                                                                       \
    X(cpu_pct, 7, PCT, SUM, DEFAULT_RANKED, "")                                                              \
    X(rss_kib, 9, KIB, LEVEL, DEFAULT_RANKED, "")                                                            \
    X(verdict, -14, NONE, FIRST, DEFAULT, "")
COLUMN_TABLE(TOP_COLUMNS);
static const struct column energy_columns[] = {
    COLUMN(domain, -16, NONE, DIM, PART, ""),
    COLUMN(joules, 12, JOULES, SUM, DEFAULT_RANKED, ""),
};
static const struct schema energy = {.name = "energy", .columns = energy_columns, .ncolumns = 2};
static const struct schema top = {.name = "top", .columns = columns, .ncolumns = COLUMNS, .next = &energy};
static const struct schema *const schemas[] = {&top, NULL};
static const char *const verdicts[] = {"ok", "starved", "oom-risk"};

uint64_t fuzz_taken;

static size_t times(const char *text, const char *word)
{
    size_t n = 0;

    for (const char *p = text; (p = strstr(p, word)); p++)
        n++;
    return n;
}

static void judge_page(const struct digest *d, const struct reader *reader)
{
    static char text[4 << 20];
    int fd = memfd_create("page", 0);

    must(fd >= 0 && !html_write(fd, d, reader));
    files_end();
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    must(n > 0 && !close(fd));
    text[n] = '\0';
    must(strlen(text) == (size_t)n && times(text, "<script") == 1 && times(text, "<b>") == 0);
}

static void judge(const struct digest *d)
{
    must(d->nrankings <= DIGEST_RANKINGS);
    for (unsigned i = 0; i < d->nrankings; i++)
        for (unsigned j = 0; j < d->rankings[i].n; j++) {
            const struct series *s = &d->series[d->rankings[i].first + j];
            double middle = series_quantile(s, 0.5), high = series_quantile(s, 0.99);
            must(isfinite(s->total) && isfinite(series_mean(s)) && s->peak >= high && high >= middle &&
                 middle >= 0 && s->windows <= d->windows && strlen(s->name) < DIGEST_WHO);
        }
}

static void read_one(const char *path, uint32_t chosen)
{
    static const char *const by[] = {NULL, "process", "comm", "verdict"};
    struct digest d = {.schemas = schemas,
                       .verdicts = verdicts,
                       .nverdicts = 3,
                       .by = by[chosen % 4],
                       .named = chosen & 4,
                       .top = 5,
                       .quantiles = true,
                       .lines = true};
    static const struct filter_options filters = {
        .comms = {{"!x*", "/[a-z]/"}, 2}, .cgroups = {{"!a.service"}, 1}, .containers = {{"!0123"}, 1}};
    struct digest_range range;
    struct reader reader;
    struct filter *filter = NULL;
    struct error why = {""};

    if (chosen & 16) {
        must(!filter_open(&filter, &filters, NULL, true, &why));
        d.filter = (struct row_filter){
            .filter = filter, .kinds = filter_kinds(&filters) | (chosen & 32 ? ROW_FILTER_KERNEL : 0)};
    }
    int err = reader_open(&reader, path, &why);
    if (!err) {
        err = digest_range(&range, &reader, chosen & 8 ? "12:00" : NULL, NULL, &why);
        err = err ? err : digest_make(&d, &reader, &range, &why);
        if (!err)
            judge(&d);
        if (!err && chosen % 64 < 8)
            judge_page(&d, &reader);
        digest_free(&d);
        reader_close(&reader);
    }
    filter_close(filter);
    must(!err || *why.text);
    must(d.filter.passed <= d.filter.rows && strlen(d.filter.without) < sizeof d.filter.without);
    fuzz_taken += !err;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    files_begin(bytes, size, 0);
    read_one("/rec", fuzz_hash(bytes, size));
    files_end();
    return 0;
}
