/* SPDX-License-Identifier: GPL-2.0-only */
#include "screen/screen_private.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include "base/clock.h"

#define MOST_TEXT (512u << 10) /* of a window; what is more is not shown */
#define LEAST_NS  100000000u   /* between two drawings without a key */

bool screen_is_possible(void)
{
    const char *term = getenv("TERM");

    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term && *term && strcmp(term, "dumb") != 0;
}

static bool add_text(struct screen_text *text, const char *bytes, size_t n)
{
    size_t room = text->room ? text->room : 16384;

    while (room - text->length < n + 1 && room < MOST_TEXT)
        room *= 2;
    if (room - text->length < n + 1)
        return false;
    char *more = room > text->room ? realloc(text->bytes, room) : text->bytes;
    if (!more)
        return false;
    text->bytes = more;
    text->room = room;
    memcpy(more + text->length, bytes, n);
    text->length += n;
    more[text->length] = '\0';
    return true;
}

static int sink_write(struct lines_sink *sink, const char *bytes, size_t n)
{
    add_text(&((struct screen *)sink)->next, bytes, n); /* whole lines: what does not fit is not shown */
    return 0;
}

struct screen *screen_open(const struct schema *const *schemas, unsigned top, bool human)
{
    const char *no_colour = getenv("NO_COLOR");
    struct screen *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->sink.write = sink_write;
    s->schemas = schemas;
    s->top = top;
    s->human = human;
    s->column = 1;
    s->colour = !no_colour || !*no_colour;
    s->signals = -1;
    return s;
}

struct lines_sink *screen_sink(struct screen *s)
{
    return &s->sink;
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
    return terminal_enter(&s->terminal);
}

/* "#top\trank...": the columns of a view, kept for all its rows. */
static void take_header(struct screen *s, const char *line, size_t length)
{
    size_t name = strcspn(line, "\t\n");
    struct screen_view *view = &s->views[s->nviews];

    if (s->nviews == SCREEN_VIEWS || name < 2 || name > sizeof view->name)
        return;
    for (unsigned i = 0; i < s->nviews; i++)
        if (strlen(s->views[i].name) == name - 1 && !memcmp(s->views[i].name, line + 1, name - 1))
            return;
    *view = (struct screen_view){.sorted = -1, .header = strndup(line, length)};
    if (!view->header)
        return;
    memcpy(view->name, line + 1, name - 1);
    for (const char *p = view->header; *p; p++)
        view->columns += *p == '\t';
    s->nviews++;
}

void screen_end_window(struct screen *s)
{
    struct screen_text text = s->now;

    for (char *line = s->next.bytes, *end; line && (end = strchr(line, '\n')); line = end + 1)
        if (*line == '#' && memchr(line, '\t', (size_t)(end - line)) &&
            !memchr(line, '=', (size_t)(end - line)))
            take_header(s, line, (size_t)(end - line));
    if (!s->paused) {
        s->now = s->next;
        s->next = text;
    }
    s->next.length = 0;
    if (s->paused || clock_ns(CLOCK_MONOTONIC) - s->drawn < LEAST_NS)
        return;
    screen_draw(s, false);
}

/* ---- keys ---- */

static void sort_by_chosen(struct screen_view *view, unsigned column)
{
    if (view->sorted != (int)column) {
        view->sorted = (int)column;
        view->upwards = false;
    } else if (!view->upwards) {
        view->upwards = true;
    } else {
        view->sorted = -1;
    }
}

static void take_arrow(struct screen *s, char arrow)
{
    unsigned columns = s->view < s->nviews ? s->views[s->view].columns : 0;

    if (arrow == 'A' && s->view)
        s->view--;
    else if (arrow == 'B' && s->view + 1 < s->nviews)
        s->view++;
    else if (arrow == 'C' && s->column < columns)
        s->column++;
    else if (arrow == 'D' && s->column > 1)
        s->column--;
    columns = s->view < s->nviews ? s->views[s->view].columns : 0;
    if (columns && s->column > columns)
        s->column = columns;
}

static void take_digit(struct screen *s, char key)
{
    if (key >= '0' && key <= '9') {
        s->typed = (s->typed * 10 + (unsigned)(key - '0')) % 10000;
        return;
    }
    s->typing = false;
    if ((key == '\n' || key == '\r') && s->typed)
        s->top = s->typed < SCREEN_ROWS ? s->typed : SCREEN_ROWS;
}

/* True: to end. */
static bool take_keys(struct screen *s, const char *keys, ssize_t n)
{
    for (ssize_t i = 0; i < n; i++) {
        if (keys[i] == '\033' && i + 2 < n && (keys[i + 1] == '[' || keys[i + 1] == 'O')) {
            take_arrow(s, keys[i + 2]);
            i += 2;
        } else if (s->typing) {
            take_digit(s, keys[i]);
        } else if (keys[i] == 'q' || keys[i] == 4) { /* Ctrl-D */
            return true;
        } else if (keys[i] == ' ') {
            s->paused = !s->paused;
        } else if (keys[i] == 'k') {
            s->typing = true;
            s->typed = 0;
        } else if (keys[i] == 'h') {
            s->human = !s->human;
        } else if (keys[i] == 's' && s->view < s->nviews) {
            sort_by_chosen(&s->views[s->view], s->column);
        }
    }
    screen_draw(s, false);
    return false;
}

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
        screen_draw(s, false);
    }
    return false;
}

bool screen_wait(struct screen *s, uint64_t ns)
{
    struct pollfd fds[] = {{.fd = s->signals, .events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN}};
    struct timespec timeout = timespec_of(ns);
    char keys[64];

    if (ppoll(fds, 2, &timeout, NULL) <= 0)
        return false;
    if (fds[0].revents && take_signals(s))
        return true;
    if (!fds[1].revents)
        return false;
    ssize_t n = read(STDIN_FILENO, keys, sizeof keys);
    if (n <= 0 && !(n < 0 && (errno == EINTR || errno == EAGAIN)) &&
        fds[1].revents & (POLLHUP | POLLERR | POLLNVAL))
        return true; /* the terminal is gone */
    return n > 0 && take_keys(s, keys, n);
}

void screen_close(struct screen *s)
{
    if (!s)
        return;
    bool drawn = s->terminal.entered;
    terminal_leave(&s->terminal);
    if (drawn)
        screen_draw(s, true);
    if (s->signals >= 0)
        close(s->signals);
    for (unsigned i = 0; i < s->nviews; i++)
        free(s->views[i].header);
    free(s->next.bytes);
    free(s->now.bytes);
    free(s);
}
