/* SPDX-License-Identifier: GPL-2.0-only */
/* The reader's side of the histograms by key (bpf/lib/histogram_by_key.bpf.h): what was counted in a window.
 * No system calls. */
#ifndef HOG_SOURCE_SHARED_HISTOGRAM_BY_KEY_H
#define HOG_SOURCE_SHARED_HISTOGRAM_BY_KEY_H

#include "loader/object.h"

struct hog_seats;

struct histogram_by_key {
    struct hog_seats *table;    /* shared with the programs */
    struct hog_seats *looks[2]; /* it at the last two turns */
    unsigned now;               /* which of them is the later one */
};

/* After map creation. An object without such a map, or one that was not made: no key has a histogram. */
int histogram_by_key_open(struct histogram_by_key *h, const struct object *obj, struct error *why);
void histogram_by_key_close(struct histogram_by_key *h);

/* At each turn: frees the seats of those who did nothing since the last one. */
void histogram_by_key_flip(struct histogram_by_key *h);

/* The share q (0..1) of the key's times between the last two turns, ns, to 6.25 %. false: not known. */
bool histogram_by_key_quantile(const struct histogram_by_key *h, uint64_t key, double q, uint64_t *ns);

#endif
