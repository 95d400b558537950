/* SPDX-License-Identifier: GPL-2.0-only */
/* Page faults of every process or thread in a window: the kernel side is bpf/faults.bpf.c. */
#ifndef HOG_SOURCE_FAULTS_FAULTS_H
#define HOG_SOURCE_FAULTS_FAULTS_H

#include "host/names.h"
#include "source/shared/source.h"
#include "source/shared/tally.h"

struct pagefaults;

/* What a key did in a window. */
struct fault_sums {
    int64_t ns; /* in faults, within the window: those that have not ended too */
    uint64_t ended_ns,
        timed; /* of faults that ended in the window: how long, and of how many that is known */
    uint64_t minor, major;
    uint64_t kernel;   /* of both, taken in kernel mode */
    uint64_t swap;     /* major ones that read from swap */
    uint64_t major_at; /* address of one of the latest major ones; 0: there was none */
};

struct fault_totals {
    uint64_t seen, other, lost; /* faults: all; of processes that were not asked for; nobody's */
};

extern const struct source faults_source;

/* Of the session; NULL: it is not open. */
struct pagefaults *pagefaults_of(const struct source_context *context);

/* By weight: who comes first. */
const struct tally *pagefaults_tally(const struct pagefaults *f);
const struct fault_sums *pagefaults_sums(const struct pagefaults *f, const struct tally_entry *entry);
const struct fault_totals *pagefaults_totals(const struct pagefaults *f);

bool pagefaults_timed(const struct pagefaults *f);      /* times are known */
bool pagefaults_swap_known(const struct pagefaults *f); /* what was read from swap is */
bool pagefaults_quantile(const struct pagefaults *f, uint64_t key, double q, uint64_t *ns);

const struct name *pagefaults_name(struct pagefaults *f, uint64_t key, uint64_t now);
bool pagefaults_hides(struct pagefaults *f, uint64_t key,
                      uint64_t now); /* --no-kernel, and it is a kernel thread */

#endif
