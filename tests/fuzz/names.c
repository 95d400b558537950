// SPDX-License-Identifier: GPL-2.0-only
/* Hostile names and numbers in rows of every format: lines stay lines, fields stay fields, and nothing that a
 * terminal obeys comes out. The input is a number, and behind its 8 bytes two names with a NUL between. */
#include "tests/fuzz/fuzz.h"
#include "base/escape.h"
#include "out/lines.h"
#include "out/out.h"
#include <string.h>
#include "tests/unit/json.h"

#define NAMES_COLUMNS(X)                                                                                     \
    X(pid, 7, NONE, TASK, DEFAULT, "process")                                                                \
    X(cpu_pct, 7, PCT, SUM, DEFAULT_RANKED, "share")                                                         \
    X(run_ms, 9, MS, SUM, DEFAULT, "time")                                                                   \
    X(dev, -8, NONE, DIM, DEFAULT, "device")                                                                 \
    X(comm, -1, NONE, TASK, DEFAULT, "name")
COLUMN_TABLE(NAMES_COLUMNS);
static const struct schema names = {.name = "names", .columns = columns, .ncolumns = COLUMNS};

uint64_t fuzz_taken;

static struct page {
    struct lines_sink sink;
    char text[32768];
    size_t n;
} page;

static int keep(struct lines_sink *sink, const char *bytes, size_t n)
{
    must(n < sizeof page.text - page.n && (!n || bytes[n - 1] == '\n'));
    memcpy(page.text + page.n, bytes, n);
    page.n += n;
    page.text[page.n] = '\0';
    return 0;
}

/* No control byte but the newlines and tabs of the format, and UTF-8 of nothing that deceives: escape_name()
 * finds nothing left to escape. */
static void judge_bytes(enum out_format format)
{
    char again[ESCAPE_MAX];
    size_t written;

    for (const char *p = page.text, *end = p + page.n; p < end;) {
        bool own = *p == '\n' || *p == ' ' || *p == '\\' || (*p == '\t' && format == OUT_TSV) ||
                   (*p == '\r' && p[1] == '\n' && format == OUT_CSV);
        size_t took = own ? 1 : escape_step(p, (size_t)(end - p), again, &written);
        must(own || (written == took && !memcmp(again, p, took)));
        p += took;
    }
}

/* How many fields the last line has. */
static size_t fields(char between)
{
    const char set[] = {between, '\n', '\0'}, *line = page.text + page.n - 1;
    size_t n = 0;

    while (line > page.text && line[-1] != '\n')
        line--;
    while (*line != '\n') {
        line += between == ' ' ? strspn(line, " ") : n > 0;
        line += strcspn(line, set);
        n++;
    }
    return n;
}

static void judge(enum out_format format)
{
    struct json_member members[16];

    must(page.n);
    judge_bytes(format);
    for (const char *line = page.text; format == OUT_JSON && *line; line = strchr(line, '\n') + 1)
        must(json_object(line, members, 16));
    if (format == OUT_TEXT || format == OUT_TSV) /* the view's name stands in front */
        must(fields(format == OUT_TSV ? '\t' : ' ') == COLUMNS + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const char *text = (const char *)bytes + 8;
    double number;

    if (size < 8)
        return 0;
    memcpy(&number, bytes, 8);
    size_t all = size - 8 < 200 ? size - 8 : 200, first = strnlen(text, all),
           behind = first < all ? first + 1 : all;
    for (int format = OUT_TEXT; format <= OUT_PROM; format++) {
        struct out *out = out_open(1, (enum out_format)format, true);
        const struct cell cells[COLUMNS] = {
            [COL_pid] = cell_unsigned(bytes[0]),
            [COL_cpu_pct] = cell_decimal(number, 2),
            [COL_run_ms] = cell_decimal(number, 3),
            [COL_dev] = cell_bytes(text, first),
            [COL_comm] = cell_bytes(text + behind, all - behind),
        };
        const struct field note = {"name", cell_bytes(text, first)};
        page = (struct page){.sink = {keep}};
        out_to_sink(out, &page.sink);
        out_begin_window(out);
        out_note(out, "window", &note, 1);
        out_row(out, &names, cells);
        out_end_window(out);
        must(!out_flush(out));
        judge((enum out_format)format);
        out_close(out);
    }
    fuzz_taken += all > 0;
    return 0;
}
