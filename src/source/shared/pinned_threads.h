/* SPDX-License-Identifier: GPL-2.0-only */
/* Pinned sums by thread, subtracted between two snapshots: the reader of bpf/lib/exited_threads.bpf.h. */
#ifndef HOG_SOURCE_SHARED_PINNED_THREADS_H
#define HOG_SOURCE_SHARED_PINNED_THREADS_H

#include "host/names.h"
#include "source/shared/pinned.h"
#include "base/hash_table.h"

#define PINNED_COUNTERS 6

/* How to read the sums of one view. */
struct pinned_kind {
    const char *object, *view;
    size_t value_bytes; /* of struct hog_thread_sums */
    /* Extracts a thread's counters. Only the first may decrease; if the second does, the kernel restarted the
     * count. */
    void (*counters)(const void *value, uint64_t now, uint64_t counters[PINNED_COUNTERS]);
    /* Adds what a thread or its process (by the options) did since the previous snapshot. */
    void (*did)(void *state, uint64_t key, const uint64_t counters[PINNED_COUNTERS], const void *value);
};

struct pinned_threads {
    const struct pinned_kind *kind;
    void *state; /* for did() */
    const struct source_context *context;
    struct pinned pinned;
    int threads, exited, cpus; /* maps */
    unsigned char *per_cpu;    /* values of that map */
    size_t cpu_bytes;
    int possible;
    struct hash_table table;
    uint32_t snapshot;
    uint64_t now;                       /* when the snapshot was taken, by the clock of the programs */
    uint64_t lost;                      /* since the previous snapshot: no room, or missed */
    uint64_t lost_before, exits_before; /* sums over all CPUs */
    uint64_t exits_seen, exits_missed;  /* since the first snapshot */
};

int pinned_threads_open(struct pinned_threads *p, const struct pinned_kind *kind, void *state,
                        const struct source_context *context, struct error *why);
/* Reads all threads and calls did() for each one that did something. per_cpu then holds the CPUs' values from
 * the start of the snapshot. */
int pinned_threads_snapshot(struct pinned_threads *p, struct error *why);
const struct name *pinned_threads_name(struct pinned_threads *p, uint64_t key, uint64_t now);
void pinned_threads_close(struct pinned_threads *p);

/* Sizes the map of exited threads for this host, when pinning. */
void pinned_threads_resize(const struct object *obj, int cpus);

#endif
