/* SPDX-License-Identifier: GPL-2.0-only */
/* What --without may name. */
#ifndef HOG_CLI_HOOK_NAMES_H
#define HOG_CLI_HOOK_NAMES_H

#include "base/error.h"

/* Is every word of the comma list a hook that some view could use, or a kind that doctor tries? NULL is. 0 or
 * -EINVAL with a line that names the wrong one and those that there are. */
int hook_names_check(const char *list, struct error *why);

#endif
