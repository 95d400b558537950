/* SPDX-License-Identifier: GPL-2.0-only */
#include "screen/terminal.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The other screen, no cursor, no wrapping: what is too long is cut by the terminal. */
static const char enter[] = "\033[?1049h\033[?25l\033[?7l\033[2J";
static const char leave[] = "\033[?7h\033[?25h\033[?1049l";

static void say(const char *bytes, size_t n)
{
    while (n) {
        ssize_t written = write(STDOUT_FILENO, bytes, n);
        if (written < 0 && errno != EINTR)
            return;
        if (written > 0) {
            bytes += written;
            n -= (size_t)written;
        }
    }
}

/* Waits for us to end. We say a word when we have left by ourselves; without it the terminal is as we made
 * it, unless the shell was faster. */
static void __attribute__((noreturn)) watch(const struct terminal *t, int alive)
{
    struct termios now;
    char word;
    ssize_t n;

    /* None of the signals that end or stop a job of the terminal; as a job in the background we may still
     * write. */
    for (int signal_number = 1; signal_number < NSIG; signal_number++)
        if (signal_number != SIGCHLD)
            signal(signal_number, SIG_IGN);
    prctl(PR_SET_NAME, "tty-keeper"); /* `pkill -9 hog` is not to hit it */
    do
        n = read(alive, &word, 1);
    while (n < 0 && errno == EINTR);
    if (n == 0) {
        if (!tcgetattr(STDIN_FILENO, &now) && now.c_lflag == t->raw.c_lflag)
            tcsetattr(STDIN_FILENO, TCSANOW, &t->was);
        say(leave, sizeof leave - 1);
    }
    _exit(0);
}

static int start_child(struct terminal *t)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC))
        return -errno;
    t->child = fork();
    if (t->child < 0) {
        int err = -errno;
        close(ends[0]);
        close(ends[1]);
        t->child = 0;
        return err;
    }
    if (!t->child) {
        /* Nothing of the kernel's may hang on it. */
        int alive = dup2(ends[0], STDERR_FILENO);
        syscall(SYS_close_range, STDERR_FILENO + 1, ~0u, 0);
        for (int fd = STDERR_FILENO + 1; fd < 1024; fd++)
            close(fd); /* before Linux 5.9 */
        watch(t, alive);
    }
    close(ends[0]);
    t->alive = ends[1];
    return 0;
}

static void set_up(struct terminal *t)
{
    tcsetattr(STDIN_FILENO, TCSANOW, &t->raw);
    say(enter, sizeof enter - 1);
    t->entered = true;
}

int terminal_enter(struct terminal *t)
{
    if (tcgetattr(STDIN_FILENO, &t->was))
        return -errno;
    t->raw = t->was;
    t->raw.c_lflag &= (tcflag_t) ~(ICANON | ECHO);
    t->raw.c_cc[VMIN] = 0;
    t->raw.c_cc[VTIME] = 0;
    int err = start_child(t);
    if (!err)
        set_up(t);
    return err;
}

static void put_back(struct terminal *t)
{
    if (!t->entered)
        return;
    t->entered = false;
    say(leave, sizeof leave - 1);
    tcsetattr(STDIN_FILENO, TCSANOW, &t->was);
}

void terminal_leave(struct terminal *t)
{
    put_back(t);
    if (!t->child)
        return;
    while (write(t->alive, "x", 1) < 0 && errno == EINTR)
        ;
    close(t->alive);
    while (waitpid(t->child, NULL, 0) < 0 && errno == EINTR)
        ;
    t->child = 0;
}

void terminal_stop(struct terminal *t)
{
    put_back(t);
    raise(SIGSTOP);
    set_up(t);
}

void terminal_size(unsigned *width, unsigned *height)
{
    struct winsize size = {0};

    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    *width = size.ws_col ? size.ws_col : 80;
    *height = size.ws_row ? size.ws_row : 24;
}
