/* SPDX-License-Identifier: GPL-2.0-only */
/* Probes at the functions that are asked for: which files have them, where, and the programs there. */
#ifndef HOG_SOURCE_CALLS_PROBES_H
#define HOG_SOURCE_CALLS_PROBES_H

#include "source/shared/source.h"

struct calls_probes;
struct hog_function; /* bpf/calls/functions.bpf.h */

/* NULL: no memory. */
struct calls_probes *calls_probes_open(const struct source_context *context, struct object *obj);
void calls_probes_close(struct calls_probes *p); /* NULL is fine */

/* Chooses the programs, and tries whether this kernel takes them; by_task: how they tell who calls. After
 * -errno another way may be chosen. */
int calls_probes_choose(struct calls_probes *p, bool by_task, bool at_once, struct error *why);

/* Finds the functions and sets the probes. -ESRCH with a reason: there are none such. */
int calls_probes_begin(struct calls_probes *p, struct error *why);

/* Looks for files that have come since, not too often. -errno with a reason: one could not be probed. */
int calls_probes_scan(struct calls_probes *p, uint64_t now, struct error *why);

/* By number; NULL: there is none. */
const struct hog_function *calls_function(const struct calls_probes *p, uint32_t number);

/* All links, for another to keep. */
int calls_probes_hand_over(struct calls_probes *p, struct link *to, struct error *why);

size_t calls_probes_files(const struct calls_probes *p);
size_t calls_probes_functions(const struct calls_probes *p);

#endif
