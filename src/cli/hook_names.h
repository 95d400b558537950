/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of hooks: what --without may name, and which ones a view got. */
#ifndef HOG_CLI_HOOK_NAMES_H
#define HOG_CLI_HOOK_NAMES_H

#include "source/shared/source.h"

/* Is every word of the comma list a hook that some view could use, or a kind that doctor tries? NULL is. 0 or
 * -EINVAL with a line that names the wrong one and those that there are. */
int hook_names_check(const char *list, struct error *why);

/* Which hooks a view got and why not the better ones: -v. */
void print_hooks(const char *view, const struct hook_report hooks[MAX_HOOKS]);

#endif
