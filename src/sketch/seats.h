/* SPDX-License-Identifier: GPL-2.0-only */
/* The reader's side of the histograms by key (bpf/seats.bpf.h): what was counted in a window. No system
 * calls. */
#ifndef HOG_SKETCH_SEATS_H
#define HOG_SKETCH_SEATS_H

#include "load/object.h"

struct hog_seats;

struct seats {
    struct hog_seats *table;    /* shared with the programs */
    struct hog_seats *looks[2]; /* it at the last two turns */
    unsigned now;               /* which of them is the later one */
};

/* After map creation. An object without such a map, or one that was not made: no key has a histogram. */
int seats_open(struct seats *seats, const struct object *obj, struct why *w);
void seats_close(struct seats *seats);

/* At each turn: frees the seats of those who did nothing since the last one. */
void seats_turn(struct seats *seats);

/* The share q (0..1) of the key's times between the last two turns, ns, to 6.25 %. false: not known. */
bool seats_quantile(const struct seats *seats, uint64_t key, double q, uint64_t *ns);

#endif
