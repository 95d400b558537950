/* SPDX-License-Identifier: GPL-2.0-only */
/* Pages of help, from the tables of views and options. Each is at most 25 lines of less than 80 columns, but
 * `all`, and those of views with -w. */
#ifndef HOG_CLI_OPTIONS_HELP_H
#define HOG_CLI_OPTIONS_HELP_H

#include "cli/options.h"

/* Whether there is a page of that name: a view, a verb, a section of options, `all` or `thresholds`. -EINVAL
 * with a reason that lists them. */
int help_check(const char *topic, const struct view *const *known, struct error *why);

/* "filters"; NULL: options of views. */
const char *section_name(enum option_section section);

/* The pages of options->topics, or without any the first one. 0 or -errno, as out_flush(). */
int options_help(int fd, const struct options *options, const struct view *const *known);

int options_version(int fd);

#endif
