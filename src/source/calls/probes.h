/* SPDX-License-Identifier: GPL-2.0-only */
/* Probes on the selected functions: in which files and where they are, and the programs. */
#ifndef HOG_SOURCE_CALLS_PROBES_H
#define HOG_SOURCE_CALLS_PROBES_H

#include "source/shared/source.h"

struct calls_probes;
struct hog_function; /* bpf/calls/functions.bpf.h */

/* NULL: out of memory. */
struct calls_probes *calls_probes_open(const struct source_context *context, struct object *obj);
void calls_probes_close(struct calls_probes *p); /* NULL is allowed */

/* Loads the programs and tests whether this kernel accepts them; by_task: how they identify the caller. After
 * -errno another kind may be tried. */
int calls_probes_choose(struct calls_probes *p, bool by_task, bool at_once, struct error *why);

/* Finds the functions and attaches the probes. -ESRCH with a reason: none found. */
int calls_probes_begin(struct calls_probes *p, struct error *why);

/* Scans for new files, rate limited. -errno with a reason: a file could not be probed. */
int calls_probes_scan(struct calls_probes *p, uint64_t now, struct error *why);

/* NULL: no such number. */
const struct hog_function *calls_function(const struct calls_probes *p, uint32_t number);

/* Moves all links to another owner. */
int calls_probes_hand_over(struct calls_probes *p, struct link *to, struct error *why);

size_t calls_probes_skipped(const struct calls_probes *p); /* that could not be read */
size_t calls_probes_files(const struct calls_probes *p);
size_t calls_probes_functions(const struct calls_probes *p);

#endif
