/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOG_CLI_OPTIONS_VIEWS_H
#define HOG_CLI_OPTIONS_VIEWS_H

#include "cli/options.h"

/* Whether that is the one view that was asked for. */
bool options_is_view(const struct options *o, const char *name);

/* Once all arguments are known: 0, or -EINVAL with the line that says which do not go together. Sets what
 * some of them imply for others. */
int options_check_views(struct options *o, struct error *why);

#endif
