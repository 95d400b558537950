/* SPDX-License-Identifier: GPL-2.0-only */
/* What calls come to in a window: the cumulative maps of bpf/calls/calls.bpf.c, read and subtracted. */
#ifndef HOG_SOURCE_CALLS_CALLS_H
#define HOG_SOURCE_CALLS_CALLS_H

#include "source/calls/load.h"
#include "base/hash_table.h"
#include "host/names.h"

/* Since the first of these calls was seen, or in a window. */
struct call_counts {
    uint64_t entered, returned;
    uint64_t failed, unsized; /* of those that returned; unsized: nobody knows their bytes */
    uint64_t bytes;
    uint64_t ns; /* in calls, those that have not returned included */
};

struct call_times {
    float p50, p99, most; /* ns; 0: not known */
};

/* One kind of call of one process or thread. */
struct call_sums {
    uint64_t id; /* as calls_id() of bpf/calls/calls.bpf.h */
    uint64_t who;
    uint32_t call, kind; /* enum hog_calls_kind */
    uint64_t in_flight;  /* calls that have not returned */
    uint64_t in_flight_ns, left;
    struct call_counts counts, before;
    uint64_t looked; /* the last turn at which it was there */
    /* Of pinned ones: */
    struct call_times times; /* in the window */
    bool known;              /* its sums were there at the last look */
    uint32_t timed;          /* the last turn at which `kept` was that of the kernel */
    struct kept_times *kept; /* its histogram then */
};

struct calls_sums {
    struct calls_load load;
    const struct source_context *context;
    struct hash_table table; /* of struct call_sums */
    uint64_t turns, now;     /* now: ns, by the clock of the programs */
    uint64_t lost, lost_before;
    size_t in_kernel; /* keys in the map */
    int unprobed;     /* -errno: a file that came could not be probed, */
    struct error unprobed_why;
    /* Of pinned ones: */
    struct hash_table names;
    uint64_t made, fresh; /* since the first look: keys that the kernel made, and new ones that were seen */
    uint64_t unseen;      /* keys that came and gave way to others between two looks, ever */
};

extern const struct source calls_source;

/* Of the session; NULL: it is not open. */
struct calls_sums *calls_sums_of_session(const struct source_context *context);

/* The last name of a dead process or thread with pinned counts. false: unknown. */
bool calls_pinned_name(const struct calls_sums *all, uint64_t who, struct name *name);

/* Of the window. */
struct call_counts calls_in_window(const struct call_sums *sums);
uint64_t calls_lost(const struct calls_sums *sums);

#endif
