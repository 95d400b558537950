/* SPDX-License-Identifier: GPL-2.0-only */
/* Measuring: windows on a fixed grid of time, until the count, a signal or the last process asked for ends
 * it. */
#ifndef HOG_CLI_RUN_H
#define HOG_CLI_RUN_H

#include "cli/options.h"
#include "base/status.h"

/* Prints to stdout; messages to stderr. */
enum status run_views(const struct options *options);

/* A host in trouble is when a window must still end on time: ask to be woken before others and without slack.
 * hog runs for microseconds a window; where this is refused, it goes on as it is. */
void wake_on_time(void);

#endif
