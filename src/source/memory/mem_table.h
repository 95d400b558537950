/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory of all processes: at the end of a window, at its begin, and the peak in between.
 *
 * Changes reported by the kernel (marks) are joined with snapshots of all processes. A snapshot is taken when
 * it does not cost too much; in between, every process that changed has a mark. Both are as exact as the
 * kernel's quick sums, so the candidates for the top are read again from /proc, which is exact where the
 * kernel is. */
#ifndef HOG_SOURCE_MEMORY_MEM_TABLE_H
#define HOG_SOURCE_MEMORY_MEM_TABLE_H

#include "source/memory/load.h"
#include "source/memory/proc.h"
#include "source/shared/source.h"

struct mem_process {
    uint64_t id; /* the key; the PID where /proc is read */
    uint64_t key;
    uint64_t born; /* ns since boot; 0: unknown */
    struct mem_levels now, before;
    uint64_t mark_rss, mark_vm; /* peak in the window according to marks */
    uint64_t mark_parts[4]; /* the same for each part, by enum hog_mem_part, where parts arrive one by one */
    uint64_t weight;        /* value the row is ranked by */
    uint64_t snapshot;      /* last snapshot that saw it */
    uint64_t window;        /* last window in which it changed or was alive */
    uint64_t quick, quick_before; /* resident by the kernel's quick sums, KiB, in two consecutive snapshots */
    bool quick_known, quick_before_known;
    bool now_known, before_known;
    bool gone;              /* it ended in the window */
    bool read, read_before; /* `now` was read from /proc in this window; so was `before` in the last one */
};

struct mem_table;

extern const struct source memory_source;

/* The session's instance; NULL: not open. */
struct mem_table *mem_table_of(const struct source_context *context);

/* The k largest of the window, largest first: by resident memory at its end (memory_options: mapped memory,
 * or the peak), an exited process by its peak. Returns how many. */
size_t mem_table_top(struct mem_table *h, struct mem_process **top, size_t k);

/* Peak in the window, KiB. False: *kib may be too low, as no change in between was seen and the process had
 * more at some time. */
bool mem_table_peak_rss(const struct mem_table *h, const struct mem_process *mem_process, uint64_t *kib);
bool mem_table_peak_vm(const struct mem_table *h, const struct mem_process *mem_process, uint64_t *kib);

/* Growth of resident memory since the window's begin, KiB. False: unknown. */
bool mem_process_delta_rss(const struct mem_process *mem_process, int64_t *kib);

struct mem_totals {
    uint64_t changes, other, lost; /* counter changes: all; of processes outside the filter; without a mark */
    uint64_t scanned;              /* processes in the window's snapshot; 0: none was taken */
};
const struct mem_totals *mem_table_totals(const struct mem_table *h);
bool mem_table_marks(const struct mem_table *h); /* changes of counters are seen */
const struct name *mem_table_name(struct mem_table *h, const struct mem_process *mem_process, uint64_t now);

#endif
