/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of hooks: what --without accepts, and what -v prints. */
#ifndef HOG_CLI_HOOK_NAMES_H
#define HOG_CLI_HOOK_NAMES_H

#include "source/shared/source.h"

/* Whether each word of the comma list is a hook that a view could use, or a kind that doctor tries. list may
 * be NULL. 0, or -EINVAL with a line that names the wrong word and the valid ones. */
int hook_names_check(const char *list, struct error *why);

/* -v: the hooks that a view uses, and why not the better ones. */
void print_hooks(const char *view, const struct hook_report hooks[MAX_HOOKS]);

#endif
