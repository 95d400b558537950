/* SPDX-License-Identifier: GPL-2.0-only */
/* What the kernel's side may leave out of -u, -g and --container: bpf/lib/prefilter.bpf.h. The rows that are
 * shown are chosen by src/rows all the same. */
#ifndef HOG_SOURCE_SHARED_PREFILTER_H
#define HOG_SOURCE_SHARED_PREFILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "source/shared/run_options.h"
#include "base/error.h"

struct prefilter;
struct object;

/* users: those of -u by number. *chosen is NULL where nothing can be left out. -ENOMEM. */
int prefilter_open(struct prefilter **prefilter, const struct run_options *options, const uint32_t *users,
                   size_t nusers, struct error *why);
void prefilter_close(struct prefilter *prefilter);

/* Tells an object that can leave out, before its maps are made: its constant, and the map of groups in place
 * of its own. chosen NULL: it leaves out nothing. The map is one that collector_use_map() may put another in
 * place of. */
bool prefilter_tell(const struct prefilter *prefilter, struct object *obj);

/* Looks for control groups that are new. now: CLOCK_MONOTONIC ns. */
void prefilter_refresh(struct prefilter *prefilter, uint64_t now);

#endif
