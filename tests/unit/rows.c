// SPDX-License-Identifier: GPL-2.0-only
/* Rows of a made-up view through filters, groups and order, and in the formats that need all rows at once. */
#include "rows/rows.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "host/names.h"
#include "tests/unit/tap.h"

#define MADE_COLUMNS(X)                                                                                      \
    X(pid, 7, NONE, TASK, DEFAULT, "")                                                                       \
    X(uid, 6, NONE, TASK, WIDE, "")                                                                          \
    X(dev, -4, NONE, DIM, WIDE, "")                                                                          \
    X(run_ms, 10, MS, SUM, DEFAULT, "")                                                                      \
    X(rss_kib, 8, KIB, LEVEL, DEFAULT, "")                                                                   \
    X(delta_kib, 8, KIB, LEVEL, WIDE, "")                                                                    \
    X(p50_us, 8, US, NONE, WIDE, "")                                                                         \
    X(max_us, 8, US, MAX, WIDE, "")                                                                          \
    X(oom_s, 8, S, MIN, WIDE, "")                                                                            \
    X(verdict, -8, NONE, FIRST, DEFAULT, "")                                                                 \
    X(comm, -15, NONE, TASK, DEFAULT, "")
COLUMN_TABLE(MADE_COLUMNS);
static const struct schema schema = {
    .name = "made", .columns = columns, .ncolumns = COLUMNS, .order = "run_ms"};

static const struct task {
    unsigned pid, uid;
    const char *dev;
    double run;
    long rss; /* < 0: not known */
    long delta;
    double p50, max, oom;
    const char *verdict, *comm;
} tasks[] = {
    {4000001, 0, "sda", 50, 100, -5, 1, 9, 30, "starved", "cc1"},
    {4000002, 33, "sda", 40, 200, 2, 2, 8, -1, "ok", "make"},
    {4000003, 0, "sdb", 30, -1, 0, 3, 20, 10, "ok", "cc1"},
    {4000004, 33, "sda", 20, 50, 1, 4, 6, 5, "ok", "cc1"},
    {4000005, 7, "sda", 10, -1, 0, 5, 5, -1, "ok", "=cmd|' /C calc'!A0"},
};

static char *text;

static struct cell known(double value)
{
    return value < 0 ? cell_unknown() : cell_decimal(value, 1);
}

/* Fills the stack, so that reading uninitialised memory shows. */
__attribute__((noinline)) static void leave_behind(void)
{
    volatile char bytes[16384];

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = 0x5a;
}

static void write_row(struct out *out, const struct task *task)
{
    const struct cell cells[COLUMNS] = {
        cell_unsigned(task->pid),
        cell_unsigned(task->uid),
        cell_string(task->dev),
        cell_decimal(task->run, 3),
        task->rss < 0 ? cell_unknown() : cell_unsigned((uint64_t)task->rss),
        cell_signed(task->delta),
        cell_decimal(task->p50, 1),
        cell_decimal(task->max, 1),
        known(task->oom),
        cell_string(task->verdict),
        cell_string(task->comm),
    };
    const struct row_keys keys = {.key = key_make(task->pid, 0, 1ull << 30)};

    leave_behind();
    out_row_of(out, &schema, cells, &keys);
}

/* The output for the rows; lost: how many were lost. */
static const char *through(struct rows_options options, uint64_t *lost)
{
    static const struct filter_options all;
    const struct schema *const views[] = {&schema, NULL};
    struct rows *rows = NULL;
    struct error why = {""};
    int fd = memfd_create("rows", MFD_CLOEXEC);
    struct out *out = out_open(fd, options.format, false);

    options.top = options.top ? options.top : 10;
    options.filters = options.filters ? options.filters : &all;
    if (rows_open(&rows, &options, views, NULL, true, &why)) {
        printf("# %s\n", why.text);
        return "";
    }
    rows_attach(rows, out);
    rows_begin(rows, 1);
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++)
        write_row(out, &tasks[i]);
    rows_flush(rows);
    if (lost)
        *lost = rows_lost(rows);
    out_close(out);
    rows_close(rows);
    off_t length = lseek(fd, 0, SEEK_END);
    free(text);
    text = calloc(1, (size_t)length + 1);
    if (!text || pread(fd, text, (size_t)length, 0) != length)
        abort();
    close(fd);
    return text;
}

/* The fields of a line, single blanks between. */
static const char *row_number(const char *lines, int n)
{
    static char words[1024];
    char *to = words;

    while (n-- > 1 && (lines = strchr(lines, '\n')))
        lines++;
    for (; lines && *lines && *lines != '\n'; lines++)
        if (*lines != ' ' || (to > words && to[-1] != ' '))
            *to++ = *lines;
    *to = '\0';
    return words;
}

static size_t lines_in(const char *lines)
{
    size_t n = 0;

    for (; (lines = strchr(lines, '\n')); lines++)
        n++;
    return n;
}

static void is_row(const char *what, const char *lines, int n, const char *expected)
{
    const char *have = row_number(lines, n);

    check(!strcmp(have, expected), "%s: %s", what, have);
}

static void check_groups(void)
{
    const char *lines = through((struct rows_options){.by = ROWS_COMM}, NULL);

    check(lines_in(lines) == 4, "by comm: rows about different things are not mixed");
    is_row("sums, the largest, the least, the first; two users are none; a quantile is not known", lines, 1,
           "made - - sda 70.000 150 -4 - 9.0 5.0 starved 2 cc1");
    is_row("one member keeps all that it has", lines, 2,
           "made 4000002 33 sda 40.000 200 2 2.0 8.0 - ok 1 make");
    is_row("an unknown value stays unknown", lines, 3,
           "made 4000003 0 sdb 30.000 - 0 3.0 20.0 10.0 ok 1 cc1");
    lines = through((struct rows_options){.by = ROWS_USER, .top = 1}, NULL);
    check(lines_in(lines) == 1, "groups are made before the cut to -k");
    is_row("by user: the name", lines, 1, "made - 33 sda 60.000 250 3 - 8.0 5.0 ok www-data 2 -");
    lines = through((struct rows_options){.by = ROWS_PROCESS}, NULL);
    check(lines_in(lines) == 5, "by process: five are five");
}

static void check_order(void)
{
    const char *lines = through((struct rows_options){.sort = "delta_kib", .top = 2}, NULL);

    is_row("by a signed column", lines, 1, "made 4000002 33 sda 40.000 200 2 2.0 8.0 - ok make");
    check(lines_in(lines) == 2, "and cut to -k after that");
    lines = through((struct rows_options){.sort = "delta_kib", .reverse = true}, NULL);
    is_row("the other way round", lines, 1, "made 4000001 0 sda 50.000 100 -5 1.0 9.0 30.0 starved cc1");
    lines = through((struct rows_options){.sort = "rss_kib", .reverse = true}, NULL);
    is_row("the least first", lines, 1, "made 4000004 33 sda 20.000 50 1 4.0 6.0 5.0 ok cc1");
    is_row("an unknown value is last either way", lines, 4,
           "made 4000003 0 sdb 30.000 - 0 3.0 20.0 10.0 ok cc1");
    lines = through((struct rows_options){.reverse = true}, NULL);
    is_row("reversed without a column: the last of the view's order", lines, 1,
           "made 4000005 7 sda 10.000 - 0 5.0 5.0 - ok =cmd|'\\x20/C\\x20calc'!A0");
    lines = through((struct rows_options){.sort = "comm"}, NULL);
    is_row("names from a on", lines, 5, "made 4000002 33 sda 40.000 200 2 2.0 8.0 - ok make");
}

static void check_filters(void)
{
    const struct filter_options two = {.comms = {{"cc*"}, 1}}, others = {.comms = {{"!cc*"}, 1}},
                                kinds = {.comms = {{"cc*", "make"}, 2}, .users = {{"33"}, 1}},
                                users = {.users = {{"root,33"}, 1}}, groups = {.cgroups = {{"/"}, 1}},
                                regex = {.comms = {{"/^c.1$|C calc/"}, 1}},
                                mixed = {.comms = {{"!make", "/[acm]/"}, 2}, .users = {{"!0"}, 1}},
                                pid = {.not_pids = {4000001, 4000004}, .nnot_pids = 2};
    const char *lines = through((struct rows_options){.filters = &two, .top = 2}, NULL);

    check(lines_in(lines) == 2, "a filter is before the cut to -k");
    is_row("the second of them", lines, 2, "made 4000003 0 sdb 30.000 - 0 3.0 20.0 10.0 ok cc1");
    lines = through((struct rows_options){.filters = &others}, NULL);
    is_row("!", lines, 1, "made 4000002 33 sda 40.000 200 2 2.0 8.0 - ok make");
    check(lines_in(lines) == 2, "!: all others");
    lines = through((struct rows_options){.filters = &kinds}, NULL);
    check(lines_in(lines) == 2, "one of each kind, and all kinds");
    lines = through((struct rows_options){.filters = &users}, NULL);
    check(lines_in(lines) == 4, "users by name and number");
    lines = through((struct rows_options){.filters = &groups}, NULL);
    check(lines_in(lines) == 0, "a process of unknown group is in none");
    lines = through((struct rows_options){.filters = &regex}, NULL);
    check(lines_in(lines) == 4, "a regular expression");
    lines = through((struct rows_options){.filters = &mixed}, NULL);
    check(lines_in(lines) == 2, "one that is wanted, and none that is refused");
    lines = through((struct rows_options){.filters = &pid}, NULL);
    check(lines_in(lines) == 3, "all but these processes");
}

static void check_memory(void)
{
    uint64_t lost = 0;
    const char *lines = through((struct rows_options){.by = ROWS_PROCESS, .kib = 1}, &lost);

    check(lost + lines_in(lines) == 5 && lost > 0,
          "rows that find no memory are counted: %zu shown, %lu lost", lines_in(lines), (unsigned long)lost);
}

static void has(const char *lines, const char *line)
{
    size_t n = strlen(line);
    const char *at = strstr(lines, line);

    check(at && at[n] == '\n' && (at == lines || at[-1] == '\n'), "prom: %s", line);
}

static void check_prom(void)
{
    const char *lines = through((struct rows_options){.format = OUT_PROM, .top = 2}, NULL);

    has(lines, "hog_made_run_seconds{pid=\"4000001\",uid=\"0\",dev=\"sda\",comm=\"cc1\"} 0.050000");
    has(lines, "hog_made_run_seconds{dev=\"sda\",comm=\"_other\"} 0.030000");
    has(lines, "hog_made_run_seconds{dev=\"sdb\",comm=\"_other\"} 0.030000");
    has(lines, "hog_made_rss_bytes{pid=\"4000002\",uid=\"33\",dev=\"sda\",comm=\"make\"} 204800");
    has(lines, "hog_made_rss_bytes{dev=\"sda\",comm=\"_other\"} 51200");
    has(lines, "hog_made_delta_bytes{pid=\"4000001\",uid=\"0\",dev=\"sda\",comm=\"cc1\"} -5120");
    has(lines, "hog_made_max_seconds{pid=\"4000001\",uid=\"0\",dev=\"sda\",comm=\"cc1\"} 0.0000090");
    has(lines, "hog_made_oom_seconds{pid=\"4000001\",uid=\"0\",dev=\"sda\",comm=\"cc1\"} 30.0");
    has(lines, "hog_made_info{pid=\"4000001\",uid=\"0\",dev=\"sda\",verdict=\"starved\",comm=\"cc1\"} 1");
    has(lines, "# TYPE hog_made_run_seconds gauge");
    check(!strstr(lines, "max_seconds{dev=\"sda\",comm=\"_other\"}"), "what does not add up has no _other");
    lines = through((struct rows_options){.format = OUT_PROM}, NULL);
    check(!strstr(lines, "_other"), "where all are shown there is no _other");
    has(lines,
        "hog_made_run_seconds{pid=\"4000005\",uid=\"7\",dev=\"sda\",comm=\"=cmd|'\\\\x20/C\\\\x20calc'!A0\"} "
        "0.010000");
}

static void check_csv(void)
{
    const char *lines = through((struct rows_options){.format = OUT_CSV, .sort = "run_ms"}, NULL);

    is_row("csv: what is not known is empty, a negative number stays", lines, 1,
           "made,,,,,4000001,0,sda,50.000,100,-5,1.0,9.0,30.0,starved,cc1\r");
    check(strstr(lines, ",'=cmd|'\\x20/C\\x20calc'!A0\r\n") != NULL, "csv: no text begins like a formula");
}

int main(void)
{
    check_groups();
    check_order();
    check_filters();
    check_memory();
    check_prom();
    check_csv();
    free(text);
    return done();
}
