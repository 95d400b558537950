/* SPDX-License-Identifier: GPL-2.0-only */
/* Probes at the functions of every allocator that processes have mapped: a library or program that has malloc
 * and free among its symbols. */
#ifndef HOG_SOURCE_HEAP_PROBES_H
#define HOG_SOURCE_HEAP_PROBES_H

#include "source/shared/source.h"

struct alloc_probes;

/* NULL: no memory. */
struct alloc_probes *alloc_probes_open(const struct source_context *context);

/* Loads the programs for probes that are set one by one, or many `at_once`; by_task: how they tell who calls.
 * Whether this kernel takes such probes is tried in hog's own program. After -errno another way may be
 * chosen. */
int alloc_probes_choose(struct alloc_probes *p, struct object *obj, bool by_task, bool at_once,
                        struct error *why);

/* Removes them from all processes. */
void alloc_probes_close(struct alloc_probes *p);

/* Looks for files that were not seen before, in all processes or those asked for. This takes time where there
 * are many: `gently`, not again before 50 times as long as the last look took has gone by. -errno with a
 * reason: a file that has an allocator could not be probed; the others are. */
int alloc_probes_scan(struct alloc_probes *p, bool gently, uint64_t now, struct error *why);

/* Whether an allocator was found in a process that was asked for, at the last look. */
bool alloc_probes_found(const struct alloc_probes *p, uint32_t process);

/* Files with probes. */
size_t alloc_probes_files(const struct alloc_probes *p);

#endif
