/* SPDX-License-Identifier: GPL-2.0-only */
/* Faults that have begun and not ended: what waits at a turn has lost its time up to the turn, not when it
 * ends. */
#ifndef HOG_SOURCE_FAULTS_OPEN_FAULTS_H
#define HOG_SOURCE_FAULTS_OPEN_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "loader/object.h"

struct hog_begun;
struct pidns;

struct waiting {
    const volatile struct hog_begun *begun; /* shared with the programs; NULL: nobody notes them */
    struct wait_credit {
        uint64_t key, since;
        uint64_t ns;        /* that windows were given already */
        uint64_t confirmed; /* when /proc last said so */
        bool over;          /* it has ended; what it brings was not seen yet */
    } * credits;            /* a place in begun */
    const struct pidns *pidns;
};

int waiting_open(struct waiting *waiting, const struct object *obj, const struct pidns *pidns,
                 struct error *why);
void waiting_close(struct waiting *waiting);

/* Hands out the time of those that wait up to `now` (by the programs' clock), and takes it back (ns < 0) when
 * they end, as whoever ends brings all of his time. fn returns false if that has not come yet (it may belong
 * to the next window), unless it `must` take it. */
typedef bool (*waiting_fn)(void *context, uint64_t key, int64_t ns, bool must);
void waiting_flip(struct waiting *waiting, uint64_t now, waiting_fn fn, void *context);

/* Whether a thread can be in a fault, by its state and the text of its /proc/TID/syscall. */
bool waiting_fits(char state, const char *syscall, bool kernel_mode);

#endif
