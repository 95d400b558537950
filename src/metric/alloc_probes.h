/* SPDX-License-Identifier: GPL-2.0-only */
/* Probes at the functions of every allocator that processes have mapped: a library or program that has malloc
 * and free among its symbols. */
#ifndef HOG_METRIC_ALLOC_PROBES_H
#define HOG_METRIC_ALLOC_PROBES_H

#include "metric/metric.h"

struct alloc_probes;

/* by_task: of the two sets of programs. NULL: no memory. */
struct alloc_probes *alloc_probes_open(struct object *obj, const struct metric_context *context,
                                       bool by_task);

/* Removes them from all processes. */
void alloc_probes_close(struct alloc_probes *p);

/* Whether this kernel takes such probes: sets one into hog's own program, and removes it. */
int alloc_probes_try(const struct alloc_probes *p, struct why *w);

/* Looks for files that were not seen before, in all processes or those asked for. This takes time where there
 * are many: `gently`, not again before 50 times as long as the last look took has gone by. -errno with a
 * reason: a file that has an allocator could not be probed; the others are. */
int alloc_probes_look(struct alloc_probes *p, bool gently, uint64_t now, struct why *w);

/* Those asked for in which no allocator was found, as of the last look. */
bool alloc_probes_found(const struct alloc_probes *p, uint32_t process);

/* Files with probes; functions that could not be probed. */
size_t alloc_probes_files(const struct alloc_probes *p);

#endif
