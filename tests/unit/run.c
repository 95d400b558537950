/* SPDX-License-Identifier: GPL-2.0-only */
/* How a run ends: at an --alert, at the count, at a signal, with its reader. The only view is made here;
 * a pattern decides which of its windows have the verdict. */
#include "cli/run.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "view/view.h"
#include "tests/unit/tap.h"
#include "verdict/verdict.h"

#define MS      UINT64_C(1000000)
#define STARVED (UINT32_C(1) << VERDICT_STARVED)
#define SECONDS 20 /* a run that does not end is ended */

static const char
    *pattern; /* a character a window, the last one for all that follow: '!' has it, 'T' is SIGTERM */
static size_t shown;

static int made_open(void **state, const struct source_context *context, struct error *why)
{
    *state = &shown;
    return 0;
}

static char now(void)
{
    size_t last = strlen(pattern) - 1;

    return pattern[shown - 1 < last ? shown - 1 : last];
}

#define LEAVER_COLUMNS(X)                                                                                    \
    X(window, 6, NONE, NONE, DEFAULT, "its number")                                                          \
    X(comm, -15, NONE, NONE, DEFAULT, "as the pattern has it")
COLUMN_TABLE(LEAVER_COLUMNS);

extern const struct view made_view;

static void made_rows(void *state, const struct window *window, struct out *out)
{
    shown = window->seq;
    const char name[] = {now(), '\0'};
    const struct cell cells[] = {cell_unsigned(window->seq), cell_string(name)};
    out_row(out, &made_view.schema, cells);
    if (now() == 'T')
        raise(SIGTERM); /* blocked: the next window is the last one, and not a whole one */
}

static bool made_alert(void *state)
{
    return now() == '!' || now() == 'T';
}

static void made_close(void *state)
{
}

const struct view made_view = {
    .name = "made",
    .schema = {.name = "made", .columns = columns, .ncolumns = COLUMNS},
    .open = made_open,
    .rows = made_rows,
    .alert = made_alert,
    .close = made_close,
};
static const struct view deaf_view = {
    .name = "deaf",
    .schema = {.name = "made", .columns = columns, .ncolumns = COLUMNS},
    .open = made_open,
    .rows = made_rows,
    .close = made_close,
};
const struct view *const views[] = {&deaf_view, &made_view, NULL};

/* In a process of its own, with its stdout in a pipe. Returns its status; its output goes to `text`. */
static int run(const struct options *options, const char *windows, char *text, size_t size)
{
    int ends[2], status = -1;
    size_t have = 0;

    if (pipe(ends))
        return -1;
    if (!text)
        close(ends[0]); /* no reader, from the start */
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        alarm(SECONDS);
        pattern = windows;
        dup2(ends[1], STDOUT_FILENO);
        signal(SIGPIPE, SIG_IGN);
        _exit((int)run_views(options));
    }
    close(ends[1]);
    for (ssize_t n; text && have < size - 1 && (n = read(ends[0], text + have, size - 1 - have)) > 0;)
        have += (size_t)n;
    if (text) {
        text[have] = '\0';
        close(ends[0]);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static struct options asked(uint32_t alert, unsigned alert_for, uint64_t count)
{
    return (struct options){.views = {"made"},
                            .nviews = 1,
                            .interval_ns = 5 * MS,
                            .count = count,
                            .run = {.top = 10, .alert = alert, .alert_for = alert_for}};
}

static void check_alerts(void)
{
    static const struct {
        const char *name, *windows;
        uint32_t alert;
        unsigned alert_for;
        uint64_t count;
        int status;
        const char *rows; /* what was shown */
    } cases[] = {
        {"the first window that has it ends the run, and is shown", "..!.", STARVED, 1, 9, STATUS_ALERT,
         "..!"},
        {"in the first window", "!", STARVED, 1, 0, STATUS_ALERT, "!"},
        {"in the last one that was asked for", "..!", STARVED, 1, 3, STATUS_ALERT, "..!"},
        {"three in a row, and no fewer", "!!.!.!!!!", STARVED, 3, 9, STATUS_ALERT, "!!.!.!!!"},
        {"two in a row do not come", "!.!.!.", STARVED, 2, 6, STATUS_DONE, "!.!.!."},
        {"none", ".", STARVED, 1, 4, STATUS_DONE, "...."},
        {"nothing was asked for", "!", 0, 1, 4, STATUS_DONE, "!!!!"},
        {"a signal cuts the last of them short: it ends the run as it does always", "T!", STARVED, 2, 9,
         STATUS_DONE, "T!"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct options options = asked(cases[i].alert, cases[i].alert_for, cases[i].count);
        char text[8192], rows[64] = "";
        int status = run(&options, cases[i].windows, text, sizeof text);
        size_t n = 0;
        for (const char *line = text; (line = strstr(line, "\nmade ")) && n < sizeof rows - 1;
             rows[n] = '\0') {
            line += strcspn(line + 1, "\n") + 1;
            rows[n++] = line[-1];
        }
        check(status == cases[i].status && !strcmp(rows, cases[i].rows), "%s: status %d, %s", cases[i].name,
              status, rows);
    }
}

static void check_others(void)
{
    struct options o = asked(STARVED, 1, 3);
    char text[8192];

    check(run(&o, "!", NULL, 0) == STATUS_DONE, "an alert without a reader: the reader has had enough");
    o.views[0] = "deaf";
    check(run(&o, "!", text, sizeof text) == STATUS_DONE && strstr(text, "seq=3"),
          "a view without verdicts never has it");
    o.views[0] = "deaf", o.views[1] = "made", o.nviews = 2;
    check(run(&o, ".!", text, sizeof text) == STATUS_ALERT && strstr(text, "seq=2"),
          "one of several views has it");
}

/* hog why of a process that does not exist, and of one that ends meanwhile. */
static void check_why(void)
{
    struct options options = asked(0, 1, 0);
    char text[65536], line[64], target[16];
    int ends[2];

    if (pipe(ends))
        return;
    pid_t child = fork();
    if (!child) {
        char byte;
        close(ends[1]);
        _exit(read(ends[0], &byte, 1) != 0);
    }
    snprintf(target, sizeof target, "%d", (int)child);
    options.why_target = target;
    options.count = 3;
    check(run(&options, ".", text, sizeof text) == STATUS_DONE && strstr(text, "seq=3") &&
              !strstr(text, "#exit"),
          "why of a process that lives");
    options.count = 0;
    close(ends[1]);
    close(ends[0]);
    snprintf(line, sizeof line, "\n#exit pid=%d\n", (int)child);
    check(run(&options, ".", text, sizeof text) == STATUS_DONE && strstr(text, line),
          "why of a process that ends: reports it, and ends");
    waitpid(child, NULL, 0);
    check(run(&options, ".", text, sizeof text) == STATUS_FAILED && !*text, "why of one that is gone");
}

int main(void)
{
    check_alerts();
    check_others();
    check_why();
    return done();
}
