// SPDX-License-Identifier: GPL-2.0-only
/* prom with --by: what the labels of a group are, whichever of its processes were seen. */
#include "rows/rows.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "host/filter.h"
#include "host/names.h"
#include "tests/unit/tap.h"

#define FEW_COLUMNS(X)                                                                                       \
    X(pid, 7, NONE, TASK, DEFAULT, "")                                                                       \
    X(run_ms, 10, MS, SUM, DEFAULT, "")                                                                      \
    X(by, -8, NONE, FIRST, DEFAULT, "")                                                                      \
    X(uid, 6, NONE, TASK, WIDE, "")                                                                          \
    X(comm, -15, NONE, TASK, DEFAULT, "")
COLUMN_TABLE(FEW_COLUMNS);
static const struct schema schema = {
    .name = "few", .columns = columns, .ncolumns = COLUMNS, .order = "run_ms"};

static const struct {
    unsigned pid, uid;
    const char *by, *comm;
} tasks[] = {
    {4000001, 7, "12/make,13/cc1", "one"},
    {4000002, 7, "/shop/db@512MiB:41s", "two"},
    {4000003, 7, "/shop:41s/db@20%", "two"},
    {4000004, 8, "[steal],12/make", "three"},
    {4000005, 8, "sda", "four"},
    {4000006, 8, "4000006/", "five"},
    {4000007, 8, "", "six"},
    {4000008, 8, ":7s", "seven"},
    {4000009, 8, "12", "eight"},
    {4000010, 8, "/a:s", "nine"},
    {4000011, 8, "vda:28711/dd", "ten"},
    {4000012, 8, "30700/make(41)", "eleven"},
    {4000013, 8, "fuse:/mnt/x:4711/bindfs", "twelve"},
    {0, 0, "", "[idle]"},
};

static char text[65536];

static const char *prom_by(uint32_t by)
{
    const struct filter_options none = {0};
    const struct rows_options options = {.filters = &none, .format = OUT_PROM, .top = 20, .by = by};
    const struct schema *const views[] = {&schema, NULL};
    FILE *file = tmpfile();
    struct out *out = out_open(fileno(file), OUT_PROM, false);
    struct rows *rows = NULL;
    struct error why = {""};

    if (rows_open(&rows, &options, views, NULL, true, &why)) {
        printf("# %s\n", why.text);
        abort();
    }
    rows_attach(rows, out);
    rows_begin(rows, 1);
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
        const struct cell cells[COLUMNS] = {
            [COL_pid] = tasks[i].pid ? cell_unsigned(tasks[i].pid) : cell_unknown(),
            [COL_run_ms] = cell_decimal(1000, 0),
            [COL_by] = cell_string(tasks[i].by),
            [COL_uid] = tasks[i].pid ? cell_unsigned(tasks[i].uid) : cell_unknown(),
            [COL_comm] = cell_string(tasks[i].comm),
        };
        uint64_t key = tasks[i].pid ? key_make(tasks[i].pid, 0, 1ull << 30) : 5;
        out_row_of(out, &schema, cells, &(struct row_keys){.key = key});
    }
    rows_flush(rows);
    out_close(out);
    rows_close(rows);
    ssize_t n = pread(fileno(file), text, sizeof text - 1, 0);
    text[n < 0 ? 0 : n] = '\0';
    fclose(file);
    return text;
}

static void has(const char *lines, const char *line)
{
    check(strstr(lines, line) != NULL, "%.*s", (int)strlen(line) - 1, line);
}

int main(void)
{
    const char *lines = prom_by(ROWS_COMM);

    check(!strstr(lines, "pid=") && !strstr(lines, "uid=") && !strstr(lines, "40000"),
          "by comm: no PID in any label");
    has(lines, "hog_few_run_seconds{comm=\"one\"} 1.000\n");
    has(lines, "hog_few_run_seconds{comm=\"two\"} 2.000\n");
    has(lines, "hog_few_run_seconds{comm=\"[idle]\"} 1.000\n");
    has(lines, "hog_few_info{by=\"make\",comm=\"one\"} 1\n");
    has(lines, "hog_few_info{by=\"/shop/db@512MiB\",comm=\"two\"} 1\n");
    has(lines, "hog_few_info{by=\"[steal]\",comm=\"three\"} 1\n");
    has(lines, "hog_few_info{by=\"sda\",comm=\"four\"} 1\n");
    has(lines, "hog_few_info{by=\"-\",comm=\"five\"} 1\n");
    has(lines, "hog_few_info{by=\"-\",comm=\"seven\"} 1\n");
    has(lines, "hog_few_info{by=\"12\",comm=\"eight\"} 1\n");
    has(lines, "hog_few_info{by=\"/a:s\",comm=\"nine\"} 1\n");

    has(lines, "hog_few_info{by=\"vda\",comm=\"ten\"} 1\n");
    has(lines, "hog_few_info{by=\"make\",comm=\"eleven\"} 1\n");
    has(lines, "hog_few_info{by=\"fuse:/mnt/x\",comm=\"twelve\"} 1\n");

    lines = prom_by(ROWS_UID);
    has(lines, "hog_few_run_seconds{uid=\"7\"} 3.000\n");
    has(lines, "hog_few_run_seconds{uid=\"8\"} 10.000\n");
    has(lines, "hog_few_run_seconds{comm=\"[idle]\"} 1.000\n");

    lines = prom_by(ROWS_CGROUP);
    has(lines, "hog_few_run_seconds 13.000\n");

    lines = prom_by(ROWS_PROCESS);
    has(lines, "hog_few_info{pid=\"4000001\",by=\"12/make,13/cc1\",uid=\"7\",comm=\"one\"} 1\n");
    lines = prom_by(0);
    has(lines, "hog_few_info{pid=\"4000002\",by=\"/shop/db@512MiB\",uid=\"7\",comm=\"two\"} 1\n");
    has(lines, "hog_few_run_seconds{pid=\"4000003\",uid=\"7\",comm=\"two\"} 1.000\n");
    return done();
}
