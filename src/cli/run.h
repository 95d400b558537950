/* SPDX-License-Identifier: GPL-2.0-only */
/* Measuring: windows on a fixed grid of time, until COUNT is reached, a signal arrives or the last process of
 * -p exits. */
#ifndef HOG_CLI_RUN_H
#define HOG_CLI_RUN_H

#include "cli/options.h"
#include "base/status.h"

/* Prints to stdout; messages to stderr. */
enum status run_views(const struct options *options);

/* Windows must end on time when the host is overloaded, too: asks for real-time priority and no timer slack.
 * hog runs for microseconds in each window. If the kernel refuses, hog goes on without. */
void wake_on_time(void);

#endif
