/* SPDX-License-Identifier: GPL-2.0-only */
/* The exact bytes of each format, and the behaviour when the other side is full, gone or slow. */
#include "out/cell.h"
#include "out/out.h"
#include "tests/unit/tap.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const struct column cpu_columns[] = {
    COLUMN(pid, 7, NONE, NONE, DEFAULT, ""),
    COLUMN(dev, -6, NONE, NONE, WIDE, ""),
    COLUMN(cpu_pct, 0, PCT, NONE, WIDE, ""),
    COLUMN(comm, -15, NONE, NONE, DEFAULT, ""),
};
static const struct schema cpu = {.name = "cpu", .columns = cpu_columns, .ncolumns = 4};

static const struct column one_columns[] = {COLUMN(value, 0, NONE, NONE, WIDE, "")};
static const struct schema one = {.name = "one", .columns = one_columns, .ncolumns = 1};

/* What was written, as a string; the caller frees it. */
static char *contents(int fd)
{
    off_t size = lseek(fd, 0, SEEK_END);
    char *text = calloc(1, (size_t)size + 1);

    if (!text || pread(fd, text, (size_t)size, 0) != size)
        abort();
    return text;
}

static void fill(struct out *out)
{
    struct field window[] = {{"seq", cell_unsigned(7)},
                             {"start", cell_time(1769860800000123999)},
                             {"dur_ms", cell_decimal(1000.0214, 3)},
                             {"why", cell_string("a b=\"c\"")},
                             {"empty", cell_string("")},
                             {"lost", cell_unknown()}};
    struct cell first[] = {cell_unsigned(4711), cell_string("sda"), cell_decimal(99.95, 1),
                           cell_string("a b\n\033[31mcpu 1")};
    struct cell second[] = {cell_signed(-5), cell_string("caf\303\251"), cell_decimal(-0.04, 1),
                            cell_bytes("abcdefghijklmn\303\251", 15)};

    out_note(out, "window", window, 6);
    out_row_of(out, &cpu, first, &(struct row_keys){.key = 1});
    out_row_of(out, &cpu, second, &(struct row_keys){.key = 2});
    out_row(out, &one, &(struct cell){.kind = CELL_UNKNOWN});
    out_note(out, "end", NULL, 0);
}

static void check_format(const char *name, enum out_format format, bool header, const char *want)
{
    int fd = memfd_create("out", 0);
    struct out *out = out_open(fd, format, header);

    fill(out);
    check(lseek(fd, 0, SEEK_END) == 0, "%s: nothing is written before there is reason to", name);
    check(out_flush(out) == 0, "%s: flush", name);
    char *text = contents(fd);
    check(!strcmp(text, want), "%s: every byte%s%s", name, strcmp(text, want) ? ": got\n" : "",
          strcmp(text, want) ? text : "");
    free(text);
    out_close(out);
    close(fd);
}

static void check_formats(void)
{
    check_format(
        "text", OUT_TEXT, true,
        "#window seq=7 start=2026-01-31T12:00:00.000123Z dur_ms=1000.021 why=a\\x20b=\"c\" empty=- lost=-\n"
        "#cpu     pid dev    cpu_pct comm\n"
        "cpu     4711 sda      100.0 a\\x20b\\x0a\\x1b[31mcpu\\x201\n"
        "cpu       -5 caf\303\251       0.0 abcdefghijklmn\\xc3\n"
        "#one value\n"
        "one      -\n"
        "#end\n");
    check_format(
        "text without header", OUT_TEXT, false,
        "#window seq=7 start=2026-01-31T12:00:00.000123Z dur_ms=1000.021 why=a\\x20b=\"c\" empty=- lost=-\n"
        "cpu    4711 sda      100.0 a\\x20b\\x0a\\x1b[31mcpu\\x201\n"
        "cpu      -5 caf\303\251       0.0 abcdefghijklmn\\xc3\n"
        "one     -\n"
        "#end\n");
    check_format(
        "tsv", OUT_TSV, true,
        "#window\tseq=7\tstart=2026-01-31T12:00:00.000123Z\tdur_ms=1000.021\twhy=a\\x20b=\"c\"\tempty=-\t"
        "lost=-\n"
        "#cpu\tpid\tdev\tcpu_pct\tcomm\n"
        "cpu\t4711\tsda\t100.0\ta\\x20b\\x0a\\x1b[31mcpu\\x201\n"
        "cpu\t-5\tcaf\303\251\t0.0\tabcdefghijklmn\\xc3\n"
        "#one\tvalue\n"
        "one\t-\n"
        "#end\n");
    check_format(
        "json", OUT_JSON, true,
        "{\"type\":\"window\",\"seq\":7,\"start\":\"2026-01-31T12:00:00.000123Z\",\"dur_ms\":1000.021,"
        "\"why\":\"a\\\\x20b=\\\"c\\\"\",\"empty\":\"-\",\"lost\":null}\n"
        "{\"type\":\"row\",\"view\":\"cpu\",\"seq\":7,\"rank\":1,\"pid\":4711,\"dev\":\"sda\","
        "\"cpu_pct\":100.0,\"comm\":\"a\\\\x20b\\\\x0a\\\\x1b[31mcpu\\\\x201\"}\n"
        "{\"type\":\"row\",\"view\":\"cpu\",\"seq\":7,\"rank\":2,\"pid\":-5,\"dev\":\"caf\303\251\","
        "\"cpu_pct\":0.0,\"comm\":\"abcdefghijklmn\\\\xc3\"}\n"
        "{\"type\":\"row\",\"view\":\"one\",\"seq\":7,\"rank\":null,\"value\":null}\n"
        "{\"type\":\"end\"}\n");
}

/* The lines of rows that a choice of columns leaves. */
static void check_choice(const char *name, enum out_format format, struct column_choice choice,
                         const char *want)
{
    int fd = memfd_create("out", 0);
    struct out *out = out_open(fd, format, true);
    const struct cell cells[] = {cell_unsigned(7), cell_string("sda"), cell_decimal(1, 1), cell_string("x")};

    out_choose(out, &choice);
    out_row(out, &cpu, cells);
    out_close(out);
    char *text = contents(fd);
    check(!strcmp(text, want), "columns, %s: %s", name, text);
    free(text);
    close(fd);
}

static void check_choices(void)
{
    static const struct schema *const schemas[] = {&cpu, &one, NULL};
    struct error why;

    check_choice("the default set", OUT_TEXT, (struct column_choice){.wide = false},
                 "#cpu     pid comm\ncpu        7 x\n");
    check_choice("all", OUT_TEXT, (struct column_choice){.wide = true},
                 "#cpu     pid dev    cpu_pct comm\ncpu        7 sda        1.0 x\n");
    check_choice("these in this order", OUT_TEXT, (struct column_choice){.list = "comm,cpu_pct,comm"},
                 "#cpu comm            cpu_pct\ncpu  x                   1.0\n");
    check_choice("more of them, in their own places", OUT_TEXT, (struct column_choice){.list = "+cpu_pct"},
                 "#cpu     pid cpu_pct comm\ncpu        7     1.0 x\n");
    check_choice("what another option is about", OUT_TEXT, (struct column_choice){.also = "dev,,nothing"},
                 "#cpu     pid dev    comm\ncpu        7 sda    x\n");
    check_choice("tsv has all", OUT_TSV, (struct column_choice){.wide = false},
                 "#cpu\tpid\tdev\tcpu_pct\tcomm\ncpu\t7\tsda\t1.0\tx\n");
    check_choice("tsv: these in this order", OUT_TSV, (struct column_choice){.list = "comm,pid"},
                 "#cpu\tcomm\tpid\ncpu\tx\t7\n");
    check(!choice_check("--columns", "pid,value", schemas, &why), "a column of either view is one");
    check(choice_check("--columns", "pid,cpu", schemas, &why) == -EINVAL &&
              !strcmp(why.text, "--columns: no column \"cpu\": there are pid, dev, cpu_pct, comm, value"),
          "an unknown column is answered with those that there are: %s", why.text);
    check(choice_check("--columns", "pid,", schemas, &why) == -EINVAL, "so is an empty one");
}

/* One cell through text and json. */
static void check_cell(const char *name, struct cell cell, const char *text_want, const char *json_want)
{
    for (int json = 0; json < 2; json++) {
        const char *want = json ? json_want : text_want;
        int fd = memfd_create("out", 0);
        struct out *out = out_open(fd, json ? OUT_JSON : OUT_TSV, false);
        struct field field = {"v", cell};
        char line[512];

        out_note(out, "n", &field, 1);
        out_close(out);
        snprintf(line, sizeof line, json ? "{\"type\":\"n\",\"v\":%s}\n" : "#n\tv=%s\n", want);
        char *text = contents(fd);
        check(!strcmp(text, line), "%s in %s: want %s", name, json ? "json" : "text", want);
        free(text);
        close(fd);
    }
}

static void check_cells(void)
{
    struct cell raw_nan = {.kind = CELL_DECIMAL, .digits = 1, .d = NAN};
    char huge[400];

    check_cell("largest unsigned", cell_unsigned(UINT64_MAX), "18446744073709551615", "18446744073709551615");
    check_cell("least signed", cell_signed(INT64_MIN), "-9223372036854775808", "-9223372036854775808");
    check_cell("zero", cell_unsigned(0), "0", "0");
    check_cell("negative zero", cell_decimal(-0.0, 3), "0.000", "0.000");
    check_cell("rounds to zero from below", cell_decimal(-0.0004, 3), "0.000", "0.000");
    check_cell("does not round to zero", cell_decimal(-0.0006, 3), "-0.001", "-0.001");
    check_cell("negative zero without digits", cell_decimal(-0.2, 0), "0", "0");
    check_cell("no digits", cell_decimal(2.75, 0), "3", "3");
    check_cell("nine digits at most", cell_decimal(0.5, 40), "0.500000000", "0.500000000");
    check_cell("not a number", cell_decimal(NAN, 1), "-", "null");
    check_cell("not a number, by hand", raw_nan, "-", "null");
    check_cell("infinity", cell_decimal(INFINITY, 1), "-", "null");
    check_cell("minus infinity", cell_decimal(-INFINITY, 1), "-", "null");
    check_cell("no string", cell_string(NULL), "-", "null");
    check_cell("no bytes", cell_bytes(NULL, 4), "-", "null");
    check_cell("a string that is a minus", cell_string("-"), "\\x2d", "\"\\\\x2d\"");
    check_cell("empty string", cell_string(""), "-", "\"-\"");
    check_cell("bytes up to the NUL", cell_bytes("ab\0cd", 5), "ab", "\"ab\"");
    check_cell("bytes without NUL", cell_bytes("abcdef", 3), "abc", "\"abc\"");
    check_cell("unknown", cell_unknown(), "-", "null");
    check_cell("epoch", cell_time(0), "1970-01-01T00:00:00.000000Z", "\"1970-01-01T00:00:00.000000Z\"");
    check_cell("leap day", cell_time(1709164799999999999), "2024-02-28T23:59:59.999999Z",
               "\"2024-02-28T23:59:59.999999Z\"");
    check_cell("last time", cell_time(UINT64_MAX), "2554-07-21T23:34:33.709551Z",
               "\"2554-07-21T23:34:33.709551Z\"");
    /* 2^1023, the first and last digits of which any table gives: 8988...4864. */
    snprintf(huge, sizeof huge, "%.9f", ldexp(1, 1023));
    check(strlen(huge) == 318 && !strncmp(huge, "89884656743115795", 17), "2^1023 has 308 digits");
    check_cell("huge", cell_decimal(ldexp(1, 1023), 9), huge, huge);
}

/* Noon of each day until the last, as the C library has it. */
static void check_days(void)
{
    unsigned days = 0, same = 0;

    for (time_t at = 43200; at < (time_t)(UINT64_MAX / 1000000000); at += 86400, days++) {
        struct cell cell = cell_time((uint64_t)at * 1000000000);
        char text[CELL_TEXT], expected[64];
        struct tm tm;
        strftime(expected, sizeof expected, "%Y-%m-%dT%H:%M:%S.000000Z", gmtime_r(&at, &tm));
        same += cell_format(&cell, text) && !strcmp(text, expected);
    }
    check(days > 213000 && same == days, "each day is that of the calendar: %u of %u", same, days);
}

static void check_seq(void)
{
    int fd = memfd_create("out", 0);
    struct out *out = out_open(fd, OUT_JSON, true);
    struct cell value = cell_unsigned(1);
    struct field seq = {"seq", cell_unsigned(3)}, other = {"seq", cell_unsigned(9)};

    out_row(out, &one, &value);
    out_note(out, "window", &seq, 1);
    out_note(out, "exit", &other, 1);
    out_row(out, &one, &value);
    out_close(out);
    char *text = contents(fd);
    check(!strcmp(text, "{\"type\":\"row\",\"view\":\"one\",\"seq\":null,\"rank\":null,\"value\":1}\n"
                        "{\"type\":\"window\",\"seq\":3}\n"
                        "{\"type\":\"exit\",\"seq\":9}\n"
                        "{\"type\":\"row\",\"view\":\"one\",\"seq\":3,\"rank\":null,\"value\":1}\n"),
          "json rows carry the seq of the last window: %s", strchr(text, '\n') ? "" : text);
    free(text);
    close(fd);
}

static void check_rank(void)
{
    static const struct column ranks[] = {COLUMN(rank, 4, NONE, NONE, DEFAULT, "")};
    static const struct schema ranking = {.name = "r", .columns = ranks, .ncolumns = 1};
    int fd = memfd_create("out", 0);
    struct out *out = out_open(fd, OUT_JSON, true);
    struct cell value = cell_unsigned(7);

    out_row(out, &ranking, &value);
    out_close(out);
    char *text = contents(fd);
    check(!strcmp(text, "{\"type\":\"row\",\"view\":\"r\",\"seq\":null,\"rank\":7}\n"),
          "a table with ranks of its own has no second one in json: %s", text);
    free(text);
    close(fd);
}

/* Text of `doctor`: blanks stay, control bytes do not. */
static void check_prose(void)
{
    int fd = memfd_create("out", 0);
    struct out *out = out_open(fd, OUT_TEXT, true);

    out_line(out, "hook.kprobe  not\there:\033[31m no\n#forged");
    out_line(out, "");
    out_line(NULL, "nowhere");
    out_close(out);
    char *text = contents(fd);
    check(!strcmp(text, "hook.kprobe  not\\x09here:\\x1b[31m no\\x0a#forged\n\n"),
          "a line of prose stays one plain line");
    free(text);
    close(fd);
}

/* No flush asked for: the buffer must not grow for ever, and ends at a line whenever it is written. */
static void check_collecting(void)
{
    int fd = memfd_create("out", 0);
    struct out *out = out_open(fd, OUT_TEXT, false);
    struct cell value = cell_string("twenty-one-bytes-here");
    off_t size = 0;
    unsigned writes = 0, torn = 0;

    for (int i = 0; i < 10000; i++) {
        char last = '\n';
        out_row(out, &one, &value);
        off_t now = lseek(fd, 0, SEEK_END);
        if (now == size)
            continue;
        writes++;
        torn += pread(fd, &last, 1, now - 1) != 1 || last != '\n' || now - size > 65536 + 26;
        size = now;
    }
    check(writes == 3 && !torn, "260 KB go out in writes of 64 KiB and whole lines: %u writes, %u torn",
          writes, torn);
    out_close(out);
    check(lseek(fd, 0, SEEK_END) == 260000, "closing writes the rest");
    close(fd);
}

static void check_full_disk(void)
{
    int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    struct out *out = out_open(fd, OUT_TEXT, true);

    check(fd >= 0 && out_flush(out) == 0, "/dev/full: nothing to write is no error");
    fill(out);
    int first = out_flush(out);
    fill(out);
    int second = out_flush(out);
    check(first == -ENOSPC && second == -ENOSPC, "/dev/full gives ENOSPC, and it stays: %d %d", first,
          second);
    out_close(out);
    close(fd);

    out = out_open(-1, OUT_TEXT, true);
    fill(out);
    check(out_flush(out) == -EBADF, "a closed stdout gives EBADF");
    out_close(out);
    check(out_flush(NULL) == -ENOMEM, "no stream at all gives ENOMEM");
}

static void check_closed_pipe(void)
{
    int ends[2];
    char byte;

    if (pipe2(ends, O_CLOEXEC))
        abort();
    struct out *out = out_open(ends[1], OUT_TEXT, true);
    fill(out);
    check(out_flush(out) == 0, "a pipe with a reader takes the lines");
    close(ends[0]);
    fill(out);
    check(out_flush(out) == -EPIPE, "a pipe whose reader has gone gives EPIPE");
    /* The error stays though the same number is a good file again: a hole in the output would be worse. */
    int fd = memfd_create("out", 0);
    dup2(fd, ends[1]);
    fill(out);
    check(out_flush(out) == -EPIPE && pread(fd, &byte, 1, 0) == 0, "after an error all output is dropped");
    out_close(out);
    close(ends[1]);
    close(fd);
}

static sigset_t ending_signals; /* blocked, as in hog: what is pending asks it to end */

static void on_alarm(int number)
{
}

#define SLOW_ROWS 3000

/* Reads in odd small pieces; exits 0 when every line is what was sent, in order and complete. */
static void slow_reader(int fd)
{
    char bytes[97], line[64];
    size_t used = 0;
    unsigned row = 0;
    ssize_t n;

    while ((n = read(fd, bytes, sizeof bytes)) > 0) {
        for (ssize_t i = 0; i < n; i++) {
            char want[64];
            if (used >= sizeof line - 1)
                _exit(2);
            line[used++] = bytes[i];
            if (bytes[i] != '\n')
                continue;
            line[used] = '\0';
            snprintf(want, sizeof want, "one %5u\n", row++);
            if (strcmp(line, want))
                _exit(3);
            used = 0;
        }
        if (row % 64 == 0)
            usleep(100);
    }
    _exit(row == SLOW_ROWS && !used ? 0 : 4);
}

/* A pipe of one page, a slow reader and signals all the time: short writes, EINTR and (non-blocking) EAGAIN.
 */
static void check_slow_pipe(bool nonblocking, bool ending)
{
    struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
    int ends[2], status = -1;

    if (pipe2(ends, O_CLOEXEC))
        abort();
    fcntl(ends[1], F_SETPIPE_SZ, 4096);
    pid_t child = fork();
    if (child == 0) {
        close(ends[1]);
        slow_reader(ends[0]);
    }
    close(ends[0]);
    if (nonblocking)
        fcntl(ends[1], F_SETFL, fcntl(ends[1], F_GETFL) | O_NONBLOCK);
    struct sigaction action = {.sa_handler = on_alarm};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    if (ending)
        raise(SIGTERM);
    struct out *out = out_open(ends[1], OUT_TEXT, false);
    for (unsigned i = 0; i < SLOW_ROWS; i++) {
        struct cell value = cell_unsigned(i);
        out_row(out, &one, &value);
    }
    int error = out_flush(out);
    setitimer(ITIMER_REAL, &never, NULL);
    if (ending)
        sigtimedwait(&ending_signals, NULL, &(struct timespec){0, 0});
    out_close(out);
    close(ends[1]);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    check(!error && WIFEXITED(status) && WEXITSTATUS(status) == 0,
          "slow %s pipe under signals: error %d, reader's status %#x",
          nonblocking ? "non-blocking" : "blocking", error, (unsigned)status);
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Nothing reads the pipe, and hog is asked to end: it must not wait for ever. */
static void check_stuck_pipe(void)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC))
        abort();
    fcntl(ends[1], F_SETPIPE_SZ, 4096);
    pid_t asker = fork();
    if (asker == 0) {
        usleep(1500000);
        kill(getppid(), SIGTERM);
        _exit(0);
    }
    struct out *out = out_open(ends[1], OUT_TEXT, false);
    for (unsigned i = 0; i < SLOW_ROWS; i++) {
        struct cell value = cell_unsigned(i);
        out_row(out, &one, &value);
    }
    double begin = seconds();
    int error = out_flush(out);
    double took = seconds() - begin;
    check(error == -EPIPE && took > 1.3 && took < 10,
          "a stuck pipe is waited for until asked to end: %d after %.1f s", error, took);
    char bytes[4096];
    ssize_t n = read(ends[0], bytes, sizeof bytes);
    check(n > 4000 && bytes[n - 1] == '\n', "what a stuck pipe took ends in a whole line: %zd bytes", n);
    out_close(out);
    waitpid(asker, NULL, 0);
    sigtimedwait(&ending_signals, NULL, &(struct timespec){1, 0});
    close(ends[0]);
    close(ends[1]);
}

/* More views than the limit: reported, not silently without a header. */
static void check_many_views(void)
{
    static struct schema views[65];
    int fd = memfd_create("out", 0);
    struct out *out = out_open(fd, OUT_TEXT, true);
    struct cell value = cell_unsigned(1);
    int error = 0;

    for (size_t i = 0; i < 65; i++) {
        views[i] = one;
        out_row(out, &views[i], &value);
        error = out_flush(out);
        if (i == 63)
            check(!error, "64 views have a header each");
    }
    check(error == -E2BIG, "the 65th view gives E2BIG: %d", error);
    out_close(out);
    close(fd);
}

/* A cell that a view forgot is a mistake in hog and not a value that is unknown. */
static void check_forgotten(void)
{
    static const enum out_format formats[] = {OUT_TEXT, OUT_TSV, OUT_CSV, OUT_JSON, OUT_RECORD};

    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        struct cell cells[5] = {[0] = cell_unsigned(1), [2] = cell_unknown(), [3] = cell_decimal(1, 2)};
        int fd = memfd_create("forgotten", MFD_CLOEXEC);
        struct out *out = out_open(fd, formats[i], true);
        cells[4] = cell_string("x");
        out_row(out, &cpu, cells);
        check(out_flush(out) == -EBADMSG, "format %d: a cell that was never set is an error", formats[i]);
        out_close(out);
        out = out_open(fd, formats[i], true);
        cells[1] = cell_unknown();
        out_row(out, &cpu, cells);
        check(!out_flush(out), "format %d: one that is unknown is none", formats[i]);
        out_close(out);
        close(fd);
    }
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&ending_signals);
    sigaddset(&ending_signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &ending_signals, NULL);
    check_formats();
    check_choices();
    check_cells();
    check_days();
    check_seq();
    check_rank();
    check_prose();
    check_collecting();
    check_full_disk();
    check_closed_pipe();
    check_slow_pipe(false, false);
    check_slow_pipe(true, false);
    check_slow_pipe(false, true);
    check_stuck_pipe();
    check_many_views();
    check_forgotten();
    return done();
}
