/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls in a window: the difference of the cumulative maps of bpf/calls.bpf.c. */
#ifndef HOG_SOURCE_CALLS_CALLS_H
#define HOG_SOURCE_CALLS_CALLS_H

#include "source/calls/load.h"
#include "base/hash_table.h"
#include "host/names.h"

/* Since the first call was seen, or in a window. */
struct call_counts {
    uint64_t entered, returned;
    uint64_t failed, unsized; /* of those that returned; unsized: byte count unknown */
    uint64_t bytes;
    uint64_t ns; /* time in calls, open ones included */
};

struct call_times {
    float p50, p99, most; /* ns; 0: unknown */
};

/* One kind of call of one process or thread. */
struct call_sums {
    uint64_t id; /* as calls_id() in bpf/calls/calls.bpf.h */
    uint64_t who;
    uint32_t call, kind; /* enum hog_calls_kind */
    uint64_t in_flight;  /* open calls */
    uint64_t in_flight_ns, left;
    struct call_counts counts, before;
    uint64_t snapshot; /* last snapshot that had it */
    /* Only with pinned counts: */
    struct call_times times; /* in the window */
    bool known;              /* its counters were in the last snapshot */
    uint32_t timed;          /* last snapshot that updated `kept` */
    struct kept_times *kept; /* its histogram at that time */
};

struct calls_sums {
    struct calls_load load;
    const struct source_context *context;
    struct hash_table table; /* of struct call_sums */
    uint64_t snapshots, now; /* now: ns on the programs' clock */
    uint64_t lost, lost_before;
    size_t in_kernel; /* keys in the map */
    int unprobed;     /* -errno: a new file could not be probed */
    struct error unprobed_why;
    /* Only with pinned counts: */
    struct hash_table names;
    uint64_t made,
        fresh;       /* since the first snapshot: keys that the kernel created, and new keys that were seen */
    uint64_t unseen; /* keys evicted before a snapshot saw them, since the start */
};

extern const struct source calls_source;

/* The session's instance; NULL: not open. */
struct calls_sums *calls_sums_of_session(const struct source_context *context);

/* The last name of a dead process or thread with pinned counts. false: unknown. */
bool calls_pinned_name(const struct calls_sums *all, uint64_t who, struct name *name);

/* Counts of the window. */
struct call_counts calls_in_window(const struct call_sums *sums);
uint64_t calls_lost(const struct calls_sums *sums);

#endif
