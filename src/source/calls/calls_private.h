/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls counted in pinned maps: set up and read in pinned.c. docs/pinned.md has the layout. */
#ifndef HOG_SOURCE_CALLS_CALLS_PRIVATE_H
#define HOG_SOURCE_CALLS_CALLS_PRIVATE_H

#include "source/calls/calls.h"

/* See struct source. Probes are set in the functions that files have now; a process that maps one of these
 * files later is counted, too. */
int calls_pin(struct collector *collector, const struct source_context *context,
              struct hook_report hooks[MAX_HOOKS], struct error *why);

/* Takes the maps of the directory that the options name. */
int calls_pinned_open(struct calls_load *load, const struct source_context *context, struct error *why);

void calls_pinned_begin(struct calls_sums *all);

/* Reads all keys. 0, or -errno with a reason: -ESTALE when it was unpinned. */
int calls_pinned_read(struct calls_sums *all, struct error *why);

/* At a snapshot: the entry of that key, with its counts in the kernel. NULL: no room. */
struct hog_calls_key;
struct hog_calls_sums;
uint64_t calls_id(const struct hog_calls_key *key);
struct call_sums *calls_sums_of(struct calls_sums *all, const struct hog_calls_key *key,
                                const struct hog_calls_sums *now);

#endif
