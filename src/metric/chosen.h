/* SPDX-License-Identifier: GPL-2.0-only */
/* What the kernel's side may leave out of -u, -g and --container: bpf/chosen.bpf.h. The rows that are shown
 * are chosen by src/rows all the same. */
#ifndef HOG_METRIC_CHOSEN_H
#define HOG_METRIC_CHOSEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "options.h"
#include "why.h"

struct chosen;
struct object;

/* users: those of -u by number. *chosen is NULL where nothing can be left out. -ENOMEM. */
int chosen_open(struct chosen **chosen, const struct options *options, const uint32_t *users, size_t nusers,
                struct why *w);
void chosen_close(struct chosen *chosen);

/* Tells an object that can leave out, before its maps are made: its constant, and the map of groups in place
 * of its own. chosen NULL: it leaves out nothing. The map is one that side_use_map() may put another in place
 * of. */
bool chosen_tell(const struct chosen *chosen, struct object *obj);

/* Looks for control groups that are new. now: CLOCK_MONOTONIC ns. */
void chosen_look(struct chosen *chosen, uint64_t now);

#endif
