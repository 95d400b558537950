/* SPDX-License-Identifier: GPL-2.0-only */
#include "host/pressure.h"
#include "tests/unit/tap.h"
#include "tests/unit/tree.h"

#define LINE(kind, total) kind " avg10=1.00 avg60=0.50 avg300=0.10 total=" total "\n"

static const struct {
    const char *what, *text;
    struct pressure want;
} cases[] = {
    {"both lines", LINE("some", "12") LINE("full", "7"), {true, true, 12, 7}},
    {"a kernel without the full line of the CPU", LINE("some", "12"), {true, false, 12, 0}},
    {"nothing", "", {0}},
    {"only a full line", LINE("full", "7"), {0}},
    {"no total", "some avg10=1.00 avg60=0.50 avg300=0.10\n", {0}},
    {"the total of another line", "some avg10=1.00\n" LINE("full", "7"), {0}},
    {"a total that is none", LINE("some", "-3"), {0}},
    {"a total cut off", "some avg10=0.00 avg60=0.00 avg300=0.00 total=", {0}},
    {"no line ends", "some avg10=0.00 total=5", {true, false, 5, 0}},
    {"a word that begins alike", LINE("something", "5"), {0}},
    {"a number that no counter holds", LINE("some", "99999999999999999999999"), {true, false, UINT64_MAX, 0}},
};

static bool same(const struct pressure *a, const struct pressure *b)
{
    return a->known == b->known && a->full_known == b->full_known && a->some_us == b->some_us &&
           a->full_us == b->full_us;
}

static void check_share(void)
{
    struct pressure a = {true, true, 1000, 500}, b = {true, true, 6000, 1500}, none = {0};

    check(pressure_pct(&a, &b, 10000000) == 50, "5 ms of 10 ms are 50 %%: %g",
          pressure_pct(&a, &b, 10000000));
    check(pressure_full_pct(&a, &b, 10000000) == 10, "1 ms of 10 ms is 10 %%: %g",
          pressure_full_pct(&a, &b, 10000000));
    check(pressure_pct(&a, &b, 1000000) == 100, "never more than 100 %%: %g", pressure_pct(&a, &b, 1000000));
    check(pressure_pct(&none, &b, 1000000) == -1 && pressure_pct(&a, &none, 1000000) == -1,
          "what was not known once has no share");
    check(pressure_pct(&b, &a, 1000000) == -1, "nor has a counter that went back");
    check(pressure_pct(&a, &b, 0) == -1, "nor a window without length");
}

static void check_host(void)
{
    struct pressure out[PRESSURES];
    struct pressures files = {0};

    tree_file("/proc/pressure/cpu", LINE("some", "11") LINE("full", "0"));
    tree_file("/proc/pressure/memory", LINE("some", "22") LINE("full", "20"));
    pressures_open(&files, tree_root);
    pressures_read(&files, out);
    check(out[PRESSURE_CPU].some_us == 11 && out[PRESSURE_MEMORY].full_us == 20, "the host's files are read");
    check(out[PRESSURE_CPU].known && !out[PRESSURE_CPU].full_known,
          "a host's CPUs have no full pressure, whatever the line says");
    check(!out[PRESSURE_IO].known, "a file that is not there is not known");
    tree_file("/proc/pressure/cpu", LINE("some", "33"));
    pressures_read(&files, out);
    check(out[PRESSURE_CPU].some_us == 33, "and read again: %llu",
          (unsigned long long)out[PRESSURE_CPU].some_us);
    pressures_close(&files);
    pressures_read(&files, out);
    check(!out[PRESSURE_CPU].known && !files.fd[PRESSURE_CPU], "closed, nothing is known");
    pressures_close(&files);
}

static void check_group(void)
{
    struct pressure out[PRESSURES];
    char directory[128];

    tree_file("/group/cpu.pressure", LINE("some", "5") LINE("full", "4"));
    tree_file("/group/io.pressure", "garbage");
    snprintf(directory, sizeof directory, "%s/group", tree_root);
    pressure_of_group(directory, out);
    check(out[PRESSURE_CPU].full_known && out[PRESSURE_CPU].full_us == 4,
          "a group has full pressure of the CPU");
    check(!out[PRESSURE_MEMORY].known && !out[PRESSURE_IO].known, "no file, and garbage: not known");
    pressure_of_group("/there/is/no/such/group", out);
    check(!out[PRESSURE_CPU].known, "no group: not known");
}

int main(void)
{
    tree_begin();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pressure got = pressure_parse(cases[i].text);
        check(same(&got, &cases[i].want), "%s: known %d %d, %llu %llu us", cases[i].what, got.known,
              got.full_known, (unsigned long long)got.some_us, (unsigned long long)got.full_us);
    }
    check_share();
    check_host();
    check_group();
    return done();
}
