/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who holds memory: all processes with what they have at the end of a window, had at its begin, and at most
 * in between.
 *
 * What the kernel's changes say (marks) is joined with looks at all processes. A look is taken when it does
 * not cost too much; in between, whoever has changed has a mark. Both are as exact as the kernel's quick
 * sums; those who may be among the first are therefore read once more from /proc, which is exact where the
 * kernel is.
 */
#ifndef HOG_SOURCE_MEMORY_MEM_TABLE_H
#define HOG_SOURCE_MEMORY_MEM_TABLE_H

#include "source/memory/load.h"
#include "source/memory/proc.h"
#include "source/shared/source.h"

struct mem_process {
    uint64_t id; /* the key; where /proc is looked at the PID */
    uint64_t key;
    uint64_t born; /* ns since boot; 0: not known */
    struct mem_levels now, before;
    uint64_t mark_rss, mark_vm; /* the most in the window that changes tell of */
    uint64_t mark_parts[4];     /* the same of each part, by enum hog_mem_part, where they come one by one */
    uint64_t weight;            /* what its row goes by */
    uint64_t look;              /* the last look that saw it */
    uint64_t window;            /* the last window in which it changed or lived */
    uint64_t quick, quick_before; /* resident by the kernel's quick sums, KiB, at two looks in a row */
    bool quick_known, quick_before_known;
    bool now_known, before_known;
    bool gone;              /* it ended in the window */
    bool read, read_before; /* `now` is of this window, from /proc; `before` was */
};

struct mem_table;

/* Of the command line: rows by mapped memory; by the maximum in the window; with the proportional set size.
 */
extern struct memory_options {
    bool vm, peak, pss;
} memory_options;

extern const struct source memory_source;

/* Of the session; NULL: it is not open. */
struct mem_table *mem_table_of(const struct source_context *context);

/* Those of the window with the most, up to k, the first first. By what is resident at the window's end
 * (options: mapped; at most), of who has ended the most that it had. Returns how many. */
size_t mem_table_top(struct mem_table *h, struct mem_process **top, size_t k);

/* At most in the window, KiB. False: *kib is less than that, perhaps: no change in between was seen, and it
 * had more once. */
bool mem_table_peak_rss(const struct mem_table *h, const struct mem_process *mem_process, uint64_t *kib);
bool mem_table_peak_vm(const struct mem_table *h, const struct mem_process *mem_process, uint64_t *kib);

/* How much more is resident than at the window's begin, KiB. False: not known. */
bool mem_process_delta_rss(const struct mem_process *mem_process, int64_t *kib);

struct mem_totals {
    uint64_t changes, other, lost; /* of counters: all; of those not asked for; without a mark */
    uint64_t looked;               /* processes that the window's look saw; 0: there was none */
};
const struct mem_totals *mem_table_totals(const struct mem_table *h);
bool mem_table_marks(const struct mem_table *h); /* changes are seen */
const struct name *mem_table_name(struct mem_table *h, const struct mem_process *mem_process, uint64_t now);

#endif
