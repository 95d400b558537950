/* SPDX-License-Identifier: GPL-2.0-only */
/* Histograms by key and window: the reader of bpf/lib/histogram_by_key.bpf.h. No system calls. */
#ifndef HOG_SOURCE_SHARED_HISTOGRAM_BY_KEY_H
#define HOG_SOURCE_SHARED_HISTOGRAM_BY_KEY_H

#include "loader/kernel/object.h"

struct hog_histograms;

struct histogram_by_key {
    struct hog_histograms *table;        /* shared with the programs */
    struct hog_histograms *snapshots[2]; /* at the last two flips */
    unsigned now;                        /* index of the later one */
};

/* After map creation. If the object has no such map, or it was not created, no key has a histogram. */
int histogram_by_key_open(struct histogram_by_key *h, const struct object *obj, struct error *why);
void histogram_by_key_close(struct histogram_by_key *h);

/* At each flip: frees the slots of keys that counted nothing since the last one. */
void histogram_by_key_flip(struct histogram_by_key *h);

/* The quantile q (0..1) of the key between the last two flips, ns, to 6.25 %. false: not known. */
bool histogram_by_key_quantile(const struct histogram_by_key *h, uint64_t key, double q, uint64_t *ns);

#endif
