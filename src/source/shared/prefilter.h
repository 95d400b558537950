/* SPDX-License-Identifier: GPL-2.0-only */
/* Early filtering in the kernel for -u, -g, --container and --pod: bpf/lib/prefilter.bpf.h. Rows are filtered
 * again in src/rows. */
#ifndef HOG_SOURCE_SHARED_PREFILTER_H
#define HOG_SOURCE_SHARED_PREFILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "host/filter.h"
#include "base/error.h"

struct prefilter;
struct object;

/* filter: outlives it. *prefilter is NULL if nothing can be left out. -ENOMEM. */
int prefilter_open(struct prefilter **prefilter, const struct filter_options *options,
                   const struct filter *filter, struct error *why);
/* The same filter, opened once more: it is used from now on. */
void prefilter_use(struct prefilter *prefilter, const struct filter *filter);
void prefilter_close(struct prefilter *prefilter);

/* Configures an object before its maps are created: sets its constant and replaces its map of excluded
 * cgroups. False: that map is not used, and collector_use_map() may drop it. prefilter NULL: nothing is left
 * out. */
bool prefilter_configure(const struct prefilter *prefilter, struct object *obj);

/* Adds new control groups. now: CLOCK_MONOTONIC ns. */
void prefilter_refresh(struct prefilter *prefilter, uint64_t now);

#endif
