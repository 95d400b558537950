/* SPDX-License-Identifier: GPL-2.0-only */
/* The live view on a terminal: each window is drawn over the one before. */
#ifndef HOG_SCREEN_SCREEN_H
#define HOG_SCREEN_SCREEN_H

#include <stdbool.h>
#include <stdint.h>
#include "out/column.h"

#define SCREEN_ROWS 200 /* that it can sort and show, of a view */

struct screen;

/* Whether stdin and stdout are a terminal that can be drawn on. */
bool screen_is_possible(void);

/* NULL: out of memory. Takes lines of OUT_TSV. Nothing is drawn before screen_enter(). schemas: of the views,
 * ends with NULL; must outlive the screen. */
struct screen *screen_open(const struct schema *const *schemas, unsigned top, bool human);
struct lines_sink *screen_sink(struct screen *screen);

/* 0 or -errno: it is a terminal that cannot be drawn on. Signals that it takes are blocked by then. */
int screen_enter(struct screen *screen);

/* The window that was written to the sink is whole. */
void screen_end_window(struct screen *screen);

/* Waits so long for keys and signals, or less. True: to end. */
bool screen_wait(struct screen *screen, uint64_t ns);

/* Gives the terminal back; what was last shown is left on it. Frees. */
void screen_close(struct screen *screen);

#endif
