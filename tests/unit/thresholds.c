/* SPDX-License-Identifier: GPL-2.0-only */
/* Thresholds on the command line and in files, valid and not. Run from the top of the source tree: the manual
 * lists each with its default. */
#include "cli/thresholds_print.h"
#include "verdict/thresholds.h"
#include "tests/unit/tap.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool same(const struct thresholds *a, const struct thresholds *b)
{
    for (size_t i = 0; i < THRESHOLDS; i++)
        if (a->value[i] != b->value[i])
            return false;
    return true;
}

static void check_table(void)
{
    struct thresholds t;

    thresholds_default(&t);
    for (size_t i = 0; i < THRESHOLDS; i++) {
        const struct threshold_spec *spec = &threshold_table[i];
        check(spec->name && spec->unit && *spec->meaning && spec->least < spec->most &&
                  t.value[i] >= spec->least && t.value[i] <= spec->most,
              "threshold %zu has a name, a meaning and a default within its bounds", i);
        for (size_t j = 0; j < i; j++)
            if (!strcmp(threshold_table[j].name, spec->name))
                check(false, "threshold %s twice", spec->name);
    }
    check(t.value[STARVED_PCT] == 25 && t.value[SPAN_S] == 1 && t.value[HANDOFF_US] == 1000,
          "defaults are where their names are");
}

static void check_set(void)
{
    static const struct {
        const char *text;
        enum threshold which;
        double want;
    } cases[] = {
        {"starved_pct=30", STARVED_PCT, 30},
        {"  starved_pct\t=  30.5 ", STARVED_PCT, 30.5},
        {"starved_pct 31", STARVED_PCT, 31},
        {"starved_pct\t \t32", STARVED_PCT, 32},
        {"starved_pct=33\r", STARVED_PCT, 33},
        {"starved_pct=.5", STARVED_PCT, 0.5},
        {"starved_pct=7.", STARVED_PCT, 7},
        {"starved_pct=0.123456", STARVED_PCT, 0.123456},
        {"starved_pct=0000000000000000000000000000000000030", STARVED_PCT, 30},
        {"starved_pct=100.000000", STARVED_PCT, 100},
        {"active_pct=0", ACTIVE_PCT, 0},
        {"noisy_pct=1000000", NOISY_PCT, 1000000},
        {"span_s=0.25", SPAN_S, 0.25},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct thresholds t, all;
        struct error why = {""};
        thresholds_default(&t);
        all = t;
        all.value[cases[i].which] = cases[i].want;
        int err = thresholds_set(&t, cases[i].text, strlen(cases[i].text), &why);
        check(!err && same(&t, &all), "set, and no other: \"%s\": %g %s", cases[i].text,
              t.value[cases[i].which], why.text);
    }
}

#define NO_NUMBER(text)                                                                                      \
    "starved_pct: \"" text "\" is not a number from 0.1 to 100 (percent, at most 6 decimals)"
#define NO_PAIR(text) "\"" text "\" is not NAME=VALUE: hog help thresholds shows all names"

static void check_refused(void)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"starved_pct=0", NO_NUMBER("0")},
        {"starved_pct=0.09", NO_NUMBER("0.09")},
        {"starved_pct=100.000001", NO_NUMBER("100.000001")},
        {"starved_pct=-5", NO_NUMBER("-5")},
        {"starved_pct=+5", NO_NUMBER("+5")},
        {"starved_pct=nan", NO_NUMBER("nan")},
        {"starved_pct=inf", NO_NUMBER("inf")},
        {"starved_pct=1e1", NO_NUMBER("1e1")},
        {"starved_pct=0x10", NO_NUMBER("0x10")},
        {"starved_pct=1,5", NO_NUMBER("1,5")},
        {"starved_pct=.", NO_NUMBER(".")},
        {"starved_pct=1.2.3", NO_NUMBER("1.2.3")},
        {"starved_pct=25%", NO_NUMBER("25%")},
        {"starved_pct=25 26", NO_NUMBER("25\\x2026")},
        {"starved_pct==25", NO_NUMBER("=25")},
        {"starved_pct=1.1234567", NO_NUMBER("1.1234567")},
        {"starved_pct=99999999999999999999999999", NO_NUMBER("99999999999999999999999999")},
        {"starved_pct", NO_PAIR("starved_pct")},
        {"starved_pct=", NO_PAIR("starved_pct=")},
        {"starved_pct = ", NO_PAIR("starved_pct\\x20=\\x20")},
        {"=25", NO_PAIR("=25")},
        {"", NO_PAIR("")},
        {" ", NO_PAIR("\\x20")},
        {"\033[2J", NO_PAIR("\\x1b[2J")},
        {"starvd_pct=25",
         "unknown threshold \"starvd_pct\": did you mean starved_pct? hog help thresholds shows all"},
        {"STARVED_PCT=25", "unknown threshold \"STARVED_PCT\": hog help thresholds shows all"},
        {"x=1", "unknown threshold \"x\": hog help thresholds shows all"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct thresholds t, before;
        struct error why = {""};
        thresholds_default(&t);
        before = t;
        int err = thresholds_set(&t, cases[i].text, strlen(cases[i].text), &why);
        check(err == -EINVAL && !strcmp(why.text, cases[i].want) && same(&t, &before),
              "refused, case %zu: %d %s", i, err, why.text);
    }
    check(thresholds_set(&(struct thresholds){0}, "x\0=1", 4, NULL) == -EINVAL,
          "a zero byte, and no place for the reason");
}

static void check_text(void)
{
    static const char good[] = "# a comment\n\n  \t\r\nio_bound_pct 60   # tuned\n"
                               "io_bound_pct=61#and again\r\n\noom_seconds=120";
    static char long_comment[300] = "#", many[3000];
    struct thresholds t;
    struct error why = {""};

    thresholds_default(&t);
    check(!thresholds_parse(&t, good, sizeof good - 1, &why) && t.value[IO_BOUND_PCT] == 61 &&
              t.value[OOM_SECONDS] == 120 && t.value[STARVED_PCT] == 25,
          "a file: comments, blank lines, ends of lines of other systems, the last line without one: %s",
          why.text);
    check(!thresholds_parse(&t, "", 0, &why), "an empty file");
    check(thresholds_parse(&t, "span_s=2\n\nspan_s=x\n", 19, &why) == -EINVAL &&
              !strcmp(why.text, "line 3: span_s: \"x\" is not a number from 0 to 60 (seconds, at most 6 "
                                "decimals)"),
          "the number of the line that is wrong: %s", why.text);
    check(thresholds_parse(&t, "span_s=2\n\0\n", 11, &why) == -EINVAL && !strncmp(why.text, "line 2: ", 8),
          "a zero byte is no blank line: %s", why.text);
    memset(long_comment + 1, '-', sizeof long_comment - 1);
    check(thresholds_parse(&t, long_comment, sizeof long_comment, &why) == -EINVAL &&
              !strcmp(why.text, "line 1: longer than 256 bytes: not a file of thresholds"),
          "a line that is too long, a comment too: %s", why.text);
    check(!thresholds_parse(&t, long_comment, 256, &why), "one of 256 bytes is not");
    memset(many, '\n', sizeof many - 1);
    many[sizeof many - 1] = 'x';
    check(thresholds_parse(&t, many, sizeof many, &why) == -EINVAL && !strncmp(why.text, "line 3000: ", 11),
          "lines are counted: %s", why.text);
}

/* ---- files ---- */

static char directory[] = "/tmp/hog-thresholds-XXXXXX";

static const char *in_directory(const char *name)
{
    static char path[128];

    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static const char *make_file(const char *name, size_t size)
{
    const char *path = in_directory(name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    char line[64];

    memset(line, '\n', sizeof line);
    for (size_t left = size; left; left -= left < sizeof line ? left : sizeof line)
        if (write(fd, line, left < sizeof line ? left : sizeof line) < 0)
            abort();
    close(fd);
    return path;
}

static void check_file(const char *what, const char *path, int want, const char *text)
{
    struct thresholds t;
    struct error why = {""};

    thresholds_default(&t);
    alarm(5); /* a blocking file must not hang the test */
    int err = thresholds_read(&t, path, &why);
    alarm(0);
    check(err == want && strstr(why.text, text) && (!err || !strncmp(why.text, path, strlen(path))),
          "%s: %d %s", what, err, why.text);
}

static void check_files(void)
{
    check(mkdtemp(directory) != NULL, "a directory for files");
    check_file("a file of 64 KiB", make_file("fits", THRESHOLDS_MOST), 0, "");
    check_file("a larger one", make_file("large", THRESHOLDS_MOST + 1), -EFBIG, "larger than 65536 bytes");
    unlink(in_directory("fits"));
    unlink(in_directory("large"));
    check_file("none", in_directory("none"), -ENOENT, "No such file");
    check_file("a directory", directory, -EINVAL, "not a regular file");
    check_file("a device without end", "/dev/zero", -EINVAL, "not a regular file");
    check(!mkfifo(in_directory("fifo"), 0600), "a FIFO");
    check_file("a FIFO without a writer", in_directory("fifo"), -EINVAL, "not a regular file");
    unlink(in_directory("fifo"));
    check_file("a file that is something else", "/proc/self/exe", -EFBIG, "larger than 65536 bytes");
    check_file("a file of /proc", "/proc/self/stat", -EINVAL, "line 1: ");
    rmdir(directory);
}

static void check_printed(void)
{
    struct thresholds t, back;
    struct error why = {""};
    int fd = memfd_create("thresholds", 0);
    char text[THRESHOLDS_MOST], path[64];
    bool all = true;

    for (size_t i = 0; i < THRESHOLDS; i++)
        t.value[i] = threshold_table[i].least + (i % 2 ? 0.000001 : 33.25) * (threshold_table[i].most > 34);
    thresholds_default(&back);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    check(!thresholds_print(&t, fd) && !thresholds_read(&back, path, &why) && same(&t, &back),
          "what is printed can be read, and is what was set: %s", why.text);
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    for (size_t i = 0; i < THRESHOLDS; i++)
        all = all && strstr(text, threshold_table[i].meaning);
    check(all, "with what each means");
    close(fd);
    fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    check(thresholds_print(&t, fd) == -ENOSPC, "a full disk is noticed");
    close(fd);
}

static void check_manual(void)
{
    static char manual[1 << 20];
    int fd = open("docs/hog.8", O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, manual, sizeof manual - 1);

    check(fd >= 0 && n > 0, "docs/hog.8 can be read from here");
    for (size_t i = 0; i < THRESHOLDS; i++) {
        char item[64];
        snprintf(item, sizeof item, "\n.It Li %s=%g\n", threshold_table[i].name, threshold_table[i].standard);
        check(strstr(manual, item) != NULL, "the manual has %s with its default", threshold_table[i].name);
    }
    close(fd);
}

int main(void)
{
    check_table();
    check_set();
    check_refused();
    check_text();
    check_files();
    check_printed();
    check_manual();
    return done();
}
