// SPDX-License-Identifier: GPL-2.0-only
/* Recordings: cut anywhere, damaged, foreign, rotated. The expected result
 * is found by searching the bytes for lines. */
#include "history/reader.h"
#include "history/recorder.h"
#include "history/recording.h"
#include "history/rotated.h"
#include "tests/unit/tap.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/recording.XXXXXX", path[64];

#define CPU_COLUMNS(X)                                                                                       \
    X(rank, 4, NONE, NONE, WIDE, "")                                                                         \
    X(pid, 7, NONE, TASK, DEFAULT, "")                                                                       \
    X(cpu_pct, 7, PCT, SUM, DEFAULT, "")                                                                     \
    X(comm, -1, NONE, TASK, DEFAULT, "")
COLUMN_TABLE(CPU_COLUMNS);
static const struct schema schema = {.name = "cpu", .columns = columns, .ncolumns = COLUMNS};

static void record_windows(uint64_t from, uint64_t to, uint64_t max_size, unsigned keep)
{
    static const char *const names[] = {"plain", "with space", "quo\"te\\", "-", "", "[\"end\"]\n", "x,y]"};
    struct recorder *recorder;
    struct error why;

    if (recorder_open(&recorder, path, max_size, keep, &why)) {
        check(false, "a recorder: %s", why.text);
        return;
    }
    struct out *out = out_open(-1, OUT_RECORD, true);
    out_to_sink(out, recorder_sink(recorder));
    for (uint64_t seq = from; seq < to; seq++) {
        const struct field fields[] = {{"seq", cell_unsigned(seq)},
                                       {"start", cell_time(seq * UINT64_C(1000000000))},
                                       {"dur_ms", cell_decimal(1000.0625, 3)}};
        out_note(out, "window", fields, 3);
        for (uint64_t i = 0; i < seq % 5; i++) {
            const struct cell cells[] = {cell_unsigned(i + 1), cell_unsigned(seq),
                                         cell_decimal((double)i / 4, 2), cell_string(names[(seq + i) % 7])};
            out_row(out, &schema, cells);
        }
        out_flush(out);
        recorder_end_window(recorder, out);
    }
    out_close(out);
    recorder_close(recorder);
}

struct seen {
    uint64_t windows, rows, ends, pids, damaged;
    unsigned torn, files;
    char last[64];
    int error;
    struct error why;
};

static struct seen read_all(void)
{
    static struct record record;
    struct reader reader;
    struct seen seen = {0};
    double pid;
    int n;

    seen.error = reader_open(&reader, path, &seen.why);
    if (seen.error)
        return seen;
    while ((n = reader_next(&reader, &record, &seen.why)) > 0) {
        if (!record.view) {
            seen.ends++;
        } else if (!strcmp(record.view->name, "window")) {
            seen.windows++;
        } else {
            seen.rows++;
            if (record_number(&record.values[1], &pid))
                seen.pids += (uint64_t)pid;
            record_text(&record.values[3], seen.last, sizeof seen.last);
        }
    }
    seen.error = n;
    seen.damaged = reader.damaged;
    seen.torn = reader.torn;
    seen.files = reader.files;
    reader_close(&reader);
    return seen;
}

static char *slurp(size_t *size)
{
    FILE *file = fopen(path, "r");
    char *bytes = malloc(1 << 20);

    *size = file && bytes ? fread(bytes, 1, 1 << 20, file) : 0;
    if (file)
        fclose(file);
    return bytes;
}

static void spill(const char *bytes, size_t size)
{
    FILE *file = fopen(path, "w");

    if (!file || fwrite(bytes, 1, size, file) != size)
        check(false, "%s can be written", path);
    if (file)
        fclose(file);
}

/* Lines with this beginning, in bytes[0..size). */
static uint64_t count(const char *bytes, size_t size, const char *begin)
{
    uint64_t n = 0;

    for (const char *p = bytes, *end = bytes + size; p < end;) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        n += (size_t)(end - p) >= strlen(begin) && !memcmp(p, begin, strlen(begin));
        p = newline ? newline + 1 : end;
    }
    return n;
}

static void check_cut(void)
{
    size_t size, wrong = 0, least;

    record_windows(1, 200, 1 << 20, 0);
    char *bytes = slurp(&size);
    struct seen all = read_all();
    check(size > 4096 && all.windows == 199 && all.ends == 199 && !all.damaged && !all.torn,
          "a recording is read as it was written: %llu windows", (unsigned long long)all.windows);
    check(all.rows == count(bytes, size, "[\"cpu\""), "all rows: %llu", (unsigned long long)all.rows);
    least = size - 4096;
    for (size_t cut = size; cut > least; cut--) {
        if (truncate(path, (off_t)cut - 1))
            break;
        struct seen seen = read_all();
        size_t whole = cut - 1;
        while (whole && (memcmp(bytes + whole - 8, "[\"end\"]\n", 8) != 0))
            whole--;
        bool good =
            !seen.error && seen.windows == seen.ends && seen.ends == count(bytes, whole, "[\"end\"]\n") &&
            seen.rows == count(bytes, whole, "[\"cpu\"") && seen.torn == (whole != cut - 1) && !seen.damaged;
        wrong += !good;
    }
    check(!wrong, "cut at each of the last 4096 bytes it is read to the last whole window: %zu are not",
          wrong);
    spill(bytes, least + 10);
    record_windows(200, 210, 1 << 20, 0);
    struct seen more = read_all();
    check(!more.error && more.windows == more.ends &&
              more.windows == count(bytes, least + 10, "[\"end\"]\n") + 10 && !more.torn,
          "a recording that was cut goes on behind its last whole window");
    free(bytes);
}

static void check_values(void)
{
    struct record_value number = {"-12.50", 6, false}, null = {"null", 4, false},
                        name = {"a\\\\x20\\\"b", 9, true};
    char text[16];
    double value = 0;

    check(record_number(&number, &value) && value == -12.5, "a number");
    check(!record_number(&null, &value) && !record_text(&null, text, sizeof text),
          "null is neither number nor name");
    check(record_text(&name, text, sizeof text) && !strcmp(text, "a \"b"), "a name is as it was: %s", text);
    check(record_text(&name, text, 3) && !strcmp(text, "a "), "or cut");
    static const char *const bad[] = {"",
                                      "-",
                                      ".",
                                      "-.",
                                      "1e9",
                                      "0x10",
                                      "1.2.3",
                                      "nan",
                                      "\"7\"",
                                      "9999999999999999999999999999999999999",
                                      "1.0000000000001"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        number = (struct record_value){bad[i], (uint32_t)strlen(bad[i]), false};
        check(!record_number(&number, &value), "no number: %s", bad[i]);
    }
}

#define HEAD "{\"hog\":\"recording\",\"format\":1}\n"
#define COLS                                                                                                 \
    "{\"view\":\"window\",\"columns\":[\"seq\"]}\n{\"view\":\"cpu\",\"columns\":[\"rank\",\"pid\",\"cpu_"    \
    "pct\",\"comm\"]}\n"

static void check_refused(void)
{
    static const struct {
        const char *bytes, *reason;
    } cases[] = {
        {"", "is empty"},
        {"hello\n", "is no recording"},
        {"{\"type\":\"window\",\"seq\":1}\n", "is no recording"},
        {"{\"hog\":\"recording\",\"format\":2}\n", "format 2"},
        {"{\"hog\":\"recording\",\"format\":99999999999999999999}\n", "format 999999"},
        {"{\"hog\":\"recording\",\"format\":}\n", "format }"},
        {"{\"hog\":\"recording\",\"format\":1", "format 1"},
        {"{\"hog\":\"recording\"", "is no recording"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        spill(cases[i].bytes, strlen(cases[i].bytes));
        struct seen seen = read_all();
        check(seen.error && strstr(seen.why.text, cases[i].reason), "refused: %s", seen.why.text);
    }
    unlink(path);
    struct seen seen = read_all();
    check(seen.error == -ENOENT, "what is not there: %s", seen.why.text);
    mkdir(path, 0755);
    seen = read_all();
    check(seen.error == -EINVAL, "a directory: %s", seen.why.text);
    rmdir(path);
}

static void check_damaged(void)
{
    static const char row[] = "[\"cpu\",1,7,12.5,\"x\"]\n";
    static const struct {
        const char *what, *line;
        uint64_t rows, damaged;
    } cases[] = {
        {"nothing wrong", "", 1, 0},
        {"an object of another kind", "{\"type\":\"exit\",\"pid\":7}\n", 1, 0},
        {"an empty line", "\n", 1, 1},
        {"a value too few", "[\"cpu\",1,7,12.5]\n", 1, 1},
        {"a value too many", "[\"cpu\",1,7,12.5,\"x\",3]\n", 1, 1},
        {"a view that was not named", "[\"gpu\",1,7,12.5,\"x\"]\n", 1, 1},
        {"a string without end", "[\"cpu\",1,7,12.5,\"x]\n", 1, 1},
        {"a backslash at the end", "[\"cpu\",1,7,12.5,\"x\\\n", 1, 1},
        {"an open list", "[\"cpu\",1,7,12.5,\"x\"\n", 1, 1},
        {"more behind a list", "[\"cpu\",1,7,12.5,\"x\"]]\n", 1, 1},
        {"a list only", "[\"\n", 1, 1},
        {"columns without names", "{\"view\":\"cpu\",\"columns\":[]}\n", 0, 2},
        {"columns with hostile names", "{\"view\":\"cpu\",\"columns\":[\"<script>\"]}\n", 0, 2},
        {"a view with a long name",
         "{\"view\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\",\"columns\":[\"a\"]}\n", 1, 1},
        {"columns that end early", "{\"view\":\"cpu\",\"columns\":[\"a\"\n", 0, 2},
    };
    char bytes[1024];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int n =
            snprintf(bytes, sizeof bytes, HEAD COLS "[\"window\",1]\n%s%s[\"end\"]\n", cases[i].line, row);
        spill(bytes, (size_t)n);
        struct seen seen = read_all();
        check(!seen.error && seen.rows == cases[i].rows && seen.damaged == cases[i].damaged && seen.ends == 1,
              "%s: %llu rows, %llu damaged", cases[i].what, (unsigned long long)seen.rows,
              (unsigned long long)seen.damaged);
    }
}

/* Lines around the longest one and the buffer, of bytes that are not hog's lines. */
static void check_huge(void)
{
    static const size_t sizes[] = {(64 << 10) - 1,  64 << 10,  (64 << 10) + 1,
                                   (128 << 10) - 1, 128 << 10, 400 << 10};
    char *bytes = malloc(1 << 20);

    for (size_t i = 0; bytes && i < sizeof sizes / sizeof *sizes; i++) {
        size_t n = (size_t)sprintf(bytes, HEAD COLS "[\"window\",1]\n");
        memset(bytes + n, i % 2 ? 0 : '[', sizes[i]);
        n += sizes[i];
        n += (size_t)sprintf(bytes + n, "\n[\"cpu\",1,7,12.5,\"x\"]\n[\"end\"]\n");
        spill(bytes, n);
        struct seen seen = read_all();
        check(!seen.error && seen.rows == 1 && seen.damaged == 1 && seen.ends == 1,
              "a line of %zu bytes is passed over", sizes[i]);
    }
    free(bytes);
}

static void check_rotated(void)
{
    char name[ROTATED_NAME];
    struct stat st;

    unlink(path);
    record_windows(1, 400, 4096, 3);
    struct seen all = read_all();
    check(all.files == 4 && !all.error && all.windows == all.ends, "four files: %u", all.files);
    for (unsigned n = 0; n <= 3; n++)
        check(rotated_name(name, path, n) && !stat(name, &st) && st.st_size < 4096 + 400, "%s is bounded",
              name);
    check(rotated_name(name, path, 4) && stat(name, &st), "there is no fifth");
    /* Killed between two moves. */
    rotated_name(name, path, 2);
    unlink(name);
    struct seen holes = read_all();
    check(!holes.error && holes.files == 3, "a missing file in the middle is no end");
    check(!rotated_move(path, 3) && !stat(name, &st), "and is filled by the next move");
    struct seen moved = read_all();
    check(!moved.error && moved.windows == holes.windows, "nothing is lost by it, nor without the newest");
    for (unsigned n = 0; n <= 4; n++)
        if (rotated_name(name, path, n))
            unlink(name);
}

static void check_recorder_refuses(void)
{
    struct recorder *recorder, *other;
    struct error why;
    size_t size;

    spill("precious\n", 9);
    check(recorder_open(&recorder, path, 1 << 20, 0, &why) == -EINVAL, "what is no recording stays: %s",
          why.text);
    char *bytes = slurp(&size);
    check(size == 9 && !memcmp(bytes, "precious\n", 9), "byte for byte");
    free(bytes);
    unlink(path);
    if (!recorder_open(&recorder, path, 1 << 20, 0, &why)) {
        check(recorder_open(&other, path, 1 << 20, 0, &why) == -EBUSY, "one at a time: %s", why.text);
        recorder_close(recorder);
    }
    check(recorder_open(&recorder, "/dev/null", 1 << 20, 0, &why) == -EINVAL, "no device: %s", why.text);
    unlink(path);
}

int main(void)
{
    if (!mkdtemp(dir)) {
        check(false, "a directory below /tmp");
        return done();
    }
    snprintf(path, sizeof path, "%s/r", dir);
    check_cut();
    check_values();
    check_refused();
    check_damaged();
    check_huge();
    check_rotated();
    check_recorder_refuses();
    rmdir(dir);
    return done();
}
