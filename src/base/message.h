/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages to the user: one line each on stderr. */
#ifndef HOG_BASE_MESSAGE_H
#define HOG_BASE_MESSAGE_H

#include "view/view.h"

/* "hog: ..." */
void message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Which hooks a view got and why not the better ones: -v. */
void print_hooks(const char *view, const struct hook_report hooks[MAX_HOOKS]);

#endif
