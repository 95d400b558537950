/* SPDX-License-Identifier: GPL-2.0-only */
/* Faults that have begun and not ended: their time up to the flip belongs to the window that just ended. */
#ifndef HOG_SOURCE_FAULTS_OPEN_FAULTS_H
#define HOG_SOURCE_FAULTS_OPEN_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "loader/kernel/object.h"

struct hog_begun;
struct pidns;

struct waiting {
    const volatile struct hog_begun *begun; /* shared with the programs; NULL: not recorded */
    struct wait_credit {
        uint64_t key, since;
        uint64_t ns;        /* credited to earlier windows */
        uint64_t confirmed; /* last confirmed by /proc */
        bool over;          /* ended; its time has not been collected yet */
    } * credits;            /* slot in `begun` */
    const struct pidns *pidns;
};

int waiting_open(struct waiting *waiting, const struct object *obj, const struct pidns *pidns,
                 struct error *why);
void waiting_close(struct waiting *waiting);

/* Credits the time of open faults up to `now` (programs' clock), and takes it back (ns < 0) when they end,
 * because the end accounts the whole duration. fn returns false if that end was not collected yet (it may
 * belong to the next window), unless `must` is set. */
typedef bool (*waiting_fn)(void *context, uint64_t key, int64_t ns, bool must);
void waiting_flip(struct waiting *waiting, uint64_t now, waiting_fn fn, void *context);

/* Whether a thread in that state, with that text of /proc/TID/syscall, can be in a fault. */
bool waiting_fits(char state, const char *syscall, bool kernel_mode);

#endif
