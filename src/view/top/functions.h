/* SPDX-License-Identifier: GPL-2.0-only */
/* The functions of a process, for `hog why`: those that ran, and those that slept. */
#ifndef HOG_VIEW_TOP_FUNCTIONS_H
#define HOG_VIEW_TOP_FUNCTIONS_H

#include "base/paragraph.h"
#include "view/top/state.h"

/* Reads them. 0 or -ENOMEM. */
int functions_find(struct top *top);

/* Sentences about the three that ran most, and the three that slept longest; nothing where stacks are not
 * known. */
void functions_prose(struct paragraph *p, const struct top *top, const struct judged_process *process);

/* The same as '#why' lines. */
typedef void (*function_fn)(void *context, const struct merged_stack *stack, const char *function,
                            const char *call);
void functions_each(const struct top *top, const struct judged_process *process, function_fn fn,
                    void *context);

#endif
