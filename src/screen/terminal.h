/* SPDX-License-Identifier: GPL-2.0-only */
/* The terminal that is drawn on: its other screen, keys without Enter, and back again whatever happens. */
#ifndef HOG_SCREEN_TERMINAL_H
#define HOG_SCREEN_TERMINAL_H

#include <stdbool.h>
#include <sys/types.h>
#include <termios.h>

struct terminal {
    struct termios was, raw;
    int alive;   /* end of a pipe: if it closes, the child knows that we were killed */
    pid_t child; /* puts the terminal right then; 0: none */
    bool entered;
};

/* 0 or -errno; then nothing was changed. */
int terminal_enter(struct terminal *terminal);
void terminal_leave(struct terminal *terminal); /* may be called again */

/* Ctrl-Z: gives the terminal back while we are stopped. */
void terminal_stop(struct terminal *terminal);

void terminal_size(unsigned *width, unsigned *height);

#endif
