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
#ifndef HOG_METRIC_HOLDERS_H
#define HOG_METRIC_HOLDERS_H

#include "metric/mem_load.h"
#include "metric/mem_proc.h"
#include "metric/metric.h"

struct holder {
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

struct holders;

int holders_open(struct holders **out, const struct metric_context *context,
                 struct hook_report hooks[MAX_HOOKS], struct why *w);
void holders_close(struct holders *h);
void holders_turn(struct holders *h);
int holders_collect(struct holders *h, const struct window *window, struct why *w);

/* Those of the window with the most, up to k, the first first. By what is resident at the window's end
 * (options: mapped; at most), of who has ended the most that it had. Returns how many. */
size_t holders_top(struct holders *h, struct holder **top, size_t k);

/* At most in the window, KiB. False: *kib is less than that, perhaps: no change in between was seen, and it
 * had more once. */
bool holders_peak_rss(const struct holders *h, const struct holder *holder, uint64_t *kib);
bool holders_peak_vm(const struct holders *h, const struct holder *holder, uint64_t *kib);

/* How much more is resident than at the window's begin, KiB. False: not known. */
bool holder_delta_rss(const struct holder *holder, int64_t *kib);

struct mem_totals {
    uint64_t changes, other, lost; /* of counters: all; of those not asked for; without a mark */
    uint64_t looked;               /* processes that the window's look saw; 0: there was none */
};
const struct mem_totals *holders_totals(const struct holders *h);
bool holders_marks(const struct holders *h); /* changes are seen */
const struct name *holders_name(struct holders *h, const struct holder *holder, uint64_t now);
void holders_shown(struct holders *h);
void holders_cost(struct holders *h, struct program_cost *cost);

#endif
