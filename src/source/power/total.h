/* SPDX-License-Identifier: GPL-2.0-only */
/* Energy since the start of a run (--total): windows added up, by domain and process. */
#ifndef HOG_SOURCE_POWER_TOTAL_H
#define HOG_SOURCE_POWER_TOTAL_H

#include "source/power/meter.h"
#include "base/hash_table.h"

/* Sums of a domain. Keys dropped from `sums`, which is bounded, go to `others`: no energy is lost. */
struct energy_sum {
    bool known;        /* in at least one window; windows without it are not counted */
    struct tally sums; /* weight: uJ; count: ns */
    uint64_t uj, idle_uj, unseen_uj, others_uj;
    int64_t idle_ns, unseen_ns, others_ns;
};

struct energy_total {
    struct energy_sum *domains;
    size_t n;
    struct hash_table names; /* of processes that were among the heaviest in a window: they may have exited */
};

int energy_total_open(struct energy_total *total, size_t domains);
int energy_total_add(struct energy_total *total, const struct meter *meter); /* adds the collected window */
void energy_total_name(struct energy_total *total, uint64_t key, const struct name *name);
/* NULL: not known. */
const struct name *energy_total_named(const struct energy_total *total, uint64_t key);
void energy_total_close(struct energy_total *total);

#endif
