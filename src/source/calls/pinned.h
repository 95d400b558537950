/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls that are counted in pinned maps: setting them up, and reading them. docs/pinned.md has the layout. */
#ifndef HOG_SOURCE_CALLS_PINNED_H
#define HOG_SOURCE_CALLS_PINNED_H

#include "host/names.h"
#include "source/calls/calls.h"

/* As struct metric wants it. Functions are those that files have now; whoever maps one of these files later
 * is counted, too. */
int calls_pin(struct collector *collector, const struct source_context *context,
              struct hook_report hooks[MAX_HOOKS], struct error *why);

/* Takes the maps of the directory that the options name. */
int calls_pinned_open(struct calls_load *load, const struct source_context *context, struct error *why);
void calls_pinned_close(struct calls_load *load);

void calls_pinned_begin(struct calls_sums *all);

/* What a dead owner of pinned counts was called the last. false: nobody knows. */
bool calls_pinned_name(const struct calls_sums *all, uint64_t who, struct name *name);

/* Looks at all keys. 0, or -errno with a reason: -ESTALE when it was unpinned. */
int calls_pinned_read(struct calls_sums *all, struct error *why);

#endif
