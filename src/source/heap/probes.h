/* SPDX-License-Identifier: GPL-2.0-only */
/* Probes on the functions of every mapped allocator: a library or program that has malloc and free among its
 * symbols. */
#ifndef HOG_SOURCE_HEAP_PROBES_H
#define HOG_SOURCE_HEAP_PROBES_H

#include "source/shared/source.h"

struct alloc_probes;

/* NULL: out of memory. */
struct alloc_probes *alloc_probes_open(const struct source_context *context);

/* Loads the programs: one link per probe, or `at_once` one for many; by_task: how they identify the caller.
 * Tests on hog's own binary whether this kernel accepts such probes. After -errno another kind may be tried.
 */
int alloc_probes_choose(struct alloc_probes *p, struct object *obj, bool by_task, bool at_once,
                        struct error *why);

/* Removes all probes. */
void alloc_probes_close(struct alloc_probes *p);

/* Scans all processes, or those asked for, for new files. Slow with many processes: `gently` waits 50 times
 * as long as the last scan took. -errno with a reason: an allocator's file could not be probed; the others
 * are. */
int alloc_probes_scan(struct alloc_probes *p, bool gently, uint64_t now, struct error *why);

/* Whether the last scan found an allocator in that process (-p). */
bool alloc_probes_found(const struct alloc_probes *p, uint32_t process);

/* Number of files that cannot be read, and may have an allocator. */
size_t alloc_probes_skipped(const struct alloc_probes *p);

/* Number of files with probes. */
size_t alloc_probes_files(const struct alloc_probes *p);

#endif
