/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hostile recordings: whatever the bytes are, a report of them has possible numbers, or there is an error;
 * and no name leaves its place in the page.
 *
 *   recording FILE   one input, as a fuzzer gives it
 *   recording        deterministic mutations of a good one, for five seconds
 *                    ($HOG_FUZZ_ROUNDS: that many instead; $HOG_FUZZ_SEED)
 */
#include "history/digest.h"
#include "history/html.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "tests/fuzz/edits.h"
#include "tests/fuzz/random.h"
#include "tests/unit/tap.h"

#define SECONDS 5
#define MOST    8192

static const char good[] =
    "{\"hog\":\"recording\",\"format\":1,\"hog_version\":\"0\"}\n"
    "{\"view\":\"window\",\"columns\":[\"seq\",\"start\",\"dur_ms\",\"lost\",\"by\"]}\n"
    "{\"view\":\"top\",\"columns\":[\"rank\",\"pid\",\"cpu_pct\",\"rss_kib\",\"verdict\",\"by\",\"comm\"]}\n"
    "{\"view\":\"energy\",\"columns\":[\"rank\",\"pid\",\"domain\",\"joules\",\"comm\"]}\n"
    "[\"window\",1,\"2026-01-31T12:00:00.000000Z\",1000.5,0,\"process\"]\n"
    "[\"top\",1,7,12.5,1000,\"starved\",\"8/y\",\"x\"]\n[\"top\",2,8,2.5,null,\"ok\",null,\"<b>\"]\n"
    "[\"energy\",1,7,\"package-0\",3.000001,\"x\"]\n[\"energy\",2,8,\"psys\",0.5,\"y\"]\n[\"end\"]\n"
    "[\"window\",2,\"2026-01-31T12:00:01.000000Z\",1000,7,\"comm\"]\n"
    "[\"top\",1,7,99.9,1e3,\"oom-risk\",\"/a@1M\",\"x\\\\x20\\\"\"]\n[\"end\"]\n"
    "[\"window\",3,\"2026-01-31T12:00:02.000000Z\",1000,7,\"domain\"]\n"
    "[\"energy\",1,7,\"package-0/core\",3,\"x\"]\n[\"end\"]\n";

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

static char page_path[] = "/tmp/recording-page.XXXXXX";
#define must(what)                                                                                           \
    do {                                                                                                     \
        if (!(what)) {                                                                                       \
            fprintf(stderr, "line %d, seed %llu: %s\n", __LINE__, (unsigned long long)state, #what);         \
            abort();                                                                                         \
        }                                                                                                    \
    } while (0)

static size_t times(const char *text, const char *word)
{
    size_t n = 0;

    for (const char *p = text; (p = strstr(p, word)); p++)
        n++;
    return n;
}

static void judge_page(void)
{
    static char page[4 << 20];
    FILE *file = fopen(page_path, "r");
    size_t n = file ? fread(page, 1, sizeof page - 1, file) : 0;

    if (file)
        fclose(file);
    page[n] = '\0';
    must(strlen(page) == n && times(page, "<script") == 1 && times(page, "<b>") == 0);
}

static void judge(const struct digest *d, const char *bytes)
{
    must(d->windows <= times(bytes, "[\"end\"]\n") && d->nrankings <= DIGEST_RANKINGS);
    for (unsigned i = 0; i < d->nrankings; i++)
        for (unsigned j = 0; j < d->rankings[i].n; j++) {
            const struct series *s = &d->series[d->rankings[i].first + j];
            double middle = series_quantile(s, 0.5), high = series_quantile(s, 0.99);
            must(isfinite(s->total) && isfinite(series_mean(s)) && s->peak >= high && high >= middle &&
                 middle >= 0 && s->windows <= d->windows && strlen(s->name) < DIGEST_NAME);
        }
}

/* True: it was accepted. `fd` is that of the file `path`. */
static bool one(const char *bytes, size_t length, int fd, const char *path, bool page)
{
    static const char *const by[] = {NULL, "process", "comm", "verdict"};
    struct digest d = {.schemas = schemas,
                       .verdicts = verdicts,
                       .nverdicts = 3,
                       .by = by[below(4)],
                       .named = below(2),
                       .top = 5,
                       .quantiles = true,
                       .lines = true};
    struct digest_range range;
    struct reader reader;
    struct error why = {""};

    if (ftruncate(fd, 0) || pwrite(fd, bytes, length, 0) != (ssize_t)length)
        abort();
    int err = reader_open(&reader, path, &why);
    if (!err) {
        err = digest_range(&range, &reader, below(2) ? "12:00" : NULL, NULL, &why);
        err = err ? err : digest_make(&d, &reader, &range, &why);
        if (!err)
            judge(&d, bytes);
        if (!err && page) {
            must(!html_write(page_path, &d, &reader));
            judge_page();
        }
        digest_free(&d);
        reader_close(&reader);
    }
    must(!err || *why.text);
    return !err;
}

static size_t mutate(char *text, size_t length)
{
    static const char *const words[] = {"\"",
                                        "\\",
                                        "[",
                                        "]",
                                        ",",
                                        "\n",
                                        "{\"view\":",
                                        "null",
                                        "1e9",
                                        "-1",
                                        "<b>",
                                        "0.000",
                                        "[\"end\"]\n",
                                        "\\x00",
                                        "99999999999999999999999999999",
                                        "energy",
                                        "window",
                                        "package-1",
                                        "2026-01-31T12:00:01Z",
                                        "<script>",
                                        "12:00",
                                        "1970-01-01"};

    for (size_t n = 1 + below(4); n; n--) {
        const char *word = words[below(sizeof words / sizeof *words)];
        size_t at = below(length + 1), w = strlen(word), cut = below(40), from = below(length + 1);
        switch (below(5)) {
        case 0: /* one byte; none is a terminator */
            if (at < length)
                text[at] = (char)(1 + below(255));
            break;
        case 1: /* a word more */
            length = edit_insert(text, length, MOST, at, word, w);
            break;
        case 2: /* some bytes fewer */
            length = edit_remove(text, length, at, cut);
            break;
        case 3: /* a part repeated */
            w = below(length - from + 1);
            if (length + w > MOST)
                break;
            memmove(text + from + w, text + from, length - from);
            length += w;
            break;
        default: /* a word over others */
            edit_cover(text, length, at, word, w);
        }
    }
    return length;
}

static void rounds(uint64_t limit, int fd, const char *path)
{
    static char text[MOST + 1];
    uint64_t round = 0, taken = 0;
    time_t begin = time(NULL);

    for (; limit ? round < limit : time(NULL) - begin < SECONDS; round++) {
        memcpy(text, good, sizeof good - 1);
        size_t n = mutate(text, sizeof good - 1);
        text[n] = '\0';
        taken += one(text, n, fd, path, round % 4 == 0);
    }
    check(one(good, sizeof good - 1, fd, path, true), "a good recording is read");
    check(taken && taken < round, "%llu of %llu recordings were taken, the others refused with a reason",
          (unsigned long long)taken, (unsigned long long)round);
}

static int one_file(const char *name, int fd, const char *path)
{
    static char text[MOST + 1];
    FILE *file = fopen(name, "r");

    if (!file)
        return 1;
    size_t n = fread(text, 1, MOST, file);
    fclose(file);
    printf("%s: %s\n", name, one(text, n, fd, path, true) ? "taken" : "refused");
    return 0;
}

int main(int argc, char **argv)
{
    const char *limit = getenv("HOG_FUZZ_ROUNDS"), *seed = getenv("HOG_FUZZ_SEED");
    int fd = memfd_create("recording", 0), page = mkstemp(page_path), status;
    char path[40];

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    close(page);
    if (seed)
        state = strtoull(seed, NULL, 10);
    if (argc > 1) {
        status = one_file(argv[1], fd, path);
    } else {
        rounds(limit ? strtoull(limit, NULL, 10) : 0, fd, path);
        status = done();
    }
    unlink(page_path);
    close(fd);
    return status;
}
