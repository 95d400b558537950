/* SPDX-License-Identifier: GPL-2.0-only */
/* Page faults of every process or thread in a window: the kernel side is bpf/faults.bpf.c. */
#ifndef HOG_SOURCE_FAULTS_FAULTS_H
#define HOG_SOURCE_FAULTS_FAULTS_H

#include "host/names.h"
#include "source/shared/source.h"
#include "source/shared/tally.h"

struct pagefaults;

/* Sums of one key in a window. */
struct fault_sums {
    int64_t ns; /* time in faults within the window, those still open included */
    uint64_t ended_ns,
        timed; /* faults that ended in the window: their duration, and for how many it is known */
    uint64_t minor, major;
    uint64_t kernel;   /* minor and major, taken in kernel mode */
    uint64_t swap;     /* major ones that read from swap */
    uint64_t major_at; /* address of one of the latest major faults; 0: none */
};

struct fault_totals {
    uint64_t seen, other, lost; /* faults: all; of processes outside the filter; not attributed */
};

extern const struct source faults_source;

/* The session's instance; NULL: not open. */
struct pagefaults *pagefaults_of(const struct source_context *context);

/* Weight gives the order of rows. */
const struct tally *pagefaults_tally(const struct pagefaults *f);
const struct fault_sums *pagefaults_sums(const struct pagefaults *f, const struct tally_entry *entry);
const struct fault_totals *pagefaults_totals(const struct pagefaults *f);

bool pagefaults_timed(const struct pagefaults *f);      /* times are known */
bool pagefaults_swap_known(const struct pagefaults *f); /* whether major faults from swap can be told apart */
bool pagefaults_quantile(const struct pagefaults *f, uint64_t key, double q, uint64_t *ns);

const struct name *pagefaults_name(struct pagefaults *f, uint64_t key, uint64_t now);
bool pagefaults_hides(struct pagefaults *f, uint64_t key,
                      uint64_t now); /* a kernel thread under --no-kernel */

#endif
