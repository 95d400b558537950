// SPDX-License-Identifier: GPL-2.0-only
#include "screen/screen_private.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/message.h"

#define LEAST_NS 100000000u /* between two drawings without a key */

bool screen_is_possible(void)
{
    const char *term = getenv("TERM");

    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term && *term && strcmp(term, "dumb") != 0;
}

static int sink_write(struct lines_sink *sink, const char *bytes, size_t n)
{
    text_add(&((struct screen *)sink)->next, bytes, n); /* whole lines: what does not fit is not shown */
    return 0;
}

struct screen *screen_open(const struct screen_options *options)
{
    const char *no_colour = getenv("NO_COLOR");
    struct screen *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->sink.write = sink_write;
    s->options = *options;
    s->wide = options->wide;
    s->wish.by = options->by;
    s->wish.threads = s->met.threads = options->threads;
    s->frame.colour = !no_colour || !*no_colour;
    s->signals = -1;
    if (load_open(&s->load)) {
        free(s);
        return NULL;
    }
    return s;
}

struct lines_sink *screen_sink(struct screen *s)
{
    return &s->sink;
}

void screen_views(struct screen *s, const struct schema *const *schemas)
{
    for (unsigned i = 0; i < s->nviews; i++)
        free(s->views[i].header);
    memset(s->views, 0, sizeof s->views);
    s->schemas = schemas;
    s->next.length = s->now.length = s->told.length = s->next_told.length = s->detail.length = 0;
    s->nviews = s->view = s->column = 0;
    s->selected = 0;
    s->page = PAGE_TABLE;
    s->wish.pid = 0;
    *s->wish.sort = '\0';
    s->wish.reverse = false;
    s->met = s->wish;
    s->ended = 0;
    load_begin(&s->load, clock_ns(CLOCK_MONOTONIC));
    if (s->terminal.entered)
        screen_draw(s, false);
}

/* While the screen is on the terminal, messages are shown in its last row and written when it is gone. */
static void take_message(void *context, const char *line, size_t n)
{
    struct screen *s = context;

    if (n > sizeof s->notices - s->noticed)
        return;
    s->notice = s->noticed;
    memcpy(s->notices + s->noticed, line, n);
    s->noticed += n;
    s->notice_ns = clock_ns(CLOCK_MONOTONIC);
}

int screen_enter(struct screen *s)
{
    sigset_t signals;

    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGTSTP);
    sigaddset(&signals, SIGWINCH);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    s->signals = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    if (s->signals < 0)
        return -errno;
    terminal_size(&s->width, &s->height);
    int err = terminal_enter(&s->terminal);
    if (err)
        return err;
    message_to(take_message, s);
    screen_draw(s, false);
    return 0;
}

const struct screen_wish *screen_wish(const struct screen *s)
{
    return &s->wish;
}

unsigned screen_rows(const struct screen *s)
{
    unsigned from = s->view < s->nviews ? s->views[s->view].from : 0, rows = s->height;

    if (s->selected || from)
        rows = from + 2 * s->height;
    return rows < SCREEN_ROWS ? rows : SCREEN_ROWS;
}

void screen_refuse(struct screen *s, const struct screen_wish *instead)
{
    s->wish = *instead;
}

void screen_tell(struct screen *s, const char *text)
{
    s->next_told.length = 0;
    if (!text_add(&s->next_told, text, strlen(text)))
        return;
    for (char *p = s->next_told.bytes; *p; p++)
        if ((unsigned char)*p < ' ' && *p != '\n')
            *p = '?'; /* no terminal is to get it, wherever it comes from */
}

/* ---- windows ---- */

static void take_columns(const struct screen *s, struct screen_view *view)
{
    const char *name;

    view->n = 0;
    for (unsigned i = 1; view->n < SCREEN_COLUMNS; i++) {
        size_t n = text_field(view->header, i, &name);
        if (!n)
            break;
        view->columns[view->n++] = (struct screen_column){
            .name = name,
            .length = (unsigned char)n,
            .width = (unsigned char)n,
            .column = s->schemas ? column_find(s->schemas, view->name, strlen(view->name), name, n) : NULL,
        };
        struct screen_column *column = &view->columns[view->n - 1];
        column->left = column->column && column->column->width < 0;
        column->asked = s->wish.threads && n >= 3 && !memcmp(name + n - 3, "tid", 3);
    }
}

/* "#top\tpid\tcpu_pct...": the columns of a view, kept for all its rows. */
static void take_header(struct screen *s, const char *line, size_t length)
{
    size_t name = strcspn(line, "\t\n");
    unsigned i = 0;

    if (name < 2 || name > sizeof s->views->name)
        return;
    while (i < s->nviews &&
           (strlen(s->views[i].name) != name - 1 || memcmp(s->views[i].name, line + 1, name - 1) != 0))
        i++;
    if (i == SCREEN_VIEWS)
        return;
    struct screen_view *view = &s->views[i];
    if (i < s->nviews && strlen(view->header) == length && !memcmp(view->header, line, length))
        return; /* rows have other options, and the same columns */
    char *header = strndup(line, length);
    if (!header)
        return;
    free(view->header);
    view->header = header;
    memcpy(view->name, line + 1, name - 1);
    take_columns(s, view);
    s->nviews += i == s->nviews;
    s->column = i == s->view ? 0 : s->column;
}

void screen_end_window(struct screen *s)
{
    struct screen_text text = s->now, told = s->told;

    for (char *line = s->next.length ? s->next.bytes : NULL, *end; line && (end = strchr(line, '\n'));
         line = end + 1)
        if (*line == '#' && memchr(line, '\t', (size_t)(end - line)) &&
            !memchr(line, '=', (size_t)(end - line)) && s->schemas &&
            schema_find(s->schemas, line + 1, strcspn(line + 1, "\t")))
            take_header(s, line, (size_t)(end - line));
    if (!s->paused) {
        s->now = s->next;
        s->next = text;
        s->told = s->next_told;
        s->next_told = told;
        s->ended = (int64_t)(clock_ns(CLOCK_REALTIME) / 1000000000);
        load_read(&s->load, screen_note(s, "window"), screen_note(s, "totals"), screen_note(s, "psi"),
                  clock_ns(CLOCK_MONOTONIC));
    }
    s->next.length = s->next_told.length = 0;
    if (s->paused || clock_ns(CLOCK_MONOTONIC) - s->drawn < LEAST_NS)
        return;
    screen_draw(s, false);
}

/* ---- keys and signals ---- */

/* True: to end. */
static bool take_signals(struct screen *s)
{
    struct signalfd_siginfo info;

    while (read(s->signals, &info, sizeof info) == sizeof info) {
        if (info.ssi_signo == SIGINT || info.ssi_signo == SIGTERM)
            return true;
        if (info.ssi_signo == SIGTSTP)
            terminal_stop(&s->terminal);
        terminal_size(&s->width, &s->height);
        frame_forget(&s->frame);
        screen_draw(s, false);
    }
    return false;
}

/* True: to end. */
static bool take_keys(struct screen *s, short events)
{
    char keys[64];
    ssize_t n = read(STDIN_FILENO, keys, sizeof keys);

    if (n <= 0)
        return !(n < 0 && (errno == EINTR || errno == EAGAIN)) && events & (POLLHUP | POLLERR | POLLNVAL);
    if (keys_take(s, keys, (size_t)n))
        return true;
    screen_draw(s, false);
    return false;
}

enum screen_event screen_wait(struct screen *s, uint64_t ns)
{
    struct pollfd fds[] = {{.fd = s->signals, .events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN}};
    struct timespec timeout = timespec_of(ns);

    if (ppoll(fds, 2, &timeout, NULL) <= 0)
        return SCREEN_ON;
    if (fds[0].revents && take_signals(s))
        return SCREEN_END;
    if (fds[1].revents && take_keys(s, fds[1].revents))
        return SCREEN_END;
    return s->wish.page != s->met.page || s->wish.threads != s->met.threads ? SCREEN_REOPEN : SCREEN_ON;
}

void screen_close(struct screen *s)
{
    if (!s)
        return;
    bool drawn = s->terminal.entered;
    terminal_leave(&s->terminal);
    message_to(NULL, NULL);
    if (drawn)
        screen_draw(s, true);
    if (s->noticed && write(STDERR_FILENO, s->notices, s->noticed) < 0)
        s->noticed = 0;
    if (s->signals >= 0)
        close(s->signals);
    for (unsigned i = 0; i < s->nviews; i++)
        free(s->views[i].header);
    frame_free(&s->frame);
    load_close(&s->load);
    free(s->next.bytes);
    free(s->now.bytes);
    free(s->next_told.bytes);
    free(s->told.bytes);
    free(s->detail.bytes);
    free(s);
}
