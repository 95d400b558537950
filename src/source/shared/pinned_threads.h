/* SPDX-License-Identifier: GPL-2.0-only */
/* What threads have done between two looks at pinned sums of each: the kernel side is
 * bpf/lib/exited_threads.bpf.h. */
#ifndef HOG_SOURCE_SHARED_PINNED_THREADS_H
#define HOG_SOURCE_SHARED_PINNED_THREADS_H

#include "host/names.h"
#include "source/shared/pinned.h"
#include "base/hash_table.h"

#define PINNED_COUNTERS 6

/* How a view's sums are read. */
struct pinned_kind {
    const char *object, *view;
    size_t value_bytes; /* of struct hog_thread_sums */
    /* Writes the counters of a thread, of which none but the first ever decreases: where the second does, the
     * kernel's count has begun anew. */
    void (*counters)(const void *value, uint64_t now, uint64_t counters[PINNED_COUNTERS]);
    /* What a thread or its process (by the options) did since the look before. */
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
    uint32_t look;
    uint64_t now;  /* of the look, by the clock of the programs */
    uint64_t lost; /* between the looks: entries without room, and threads that were missed */
    uint64_t lost_before, exits_before; /* sums over all CPUs */
    uint64_t exits_seen, exits_missed;  /* since the first look */
};

int pinned_threads_open(struct pinned_threads *p, const struct pinned_kind *kind, void *state,
                        const struct source_context *context, struct error *why);
/* Looks at all; calls did() of each thread that has done something. What CPUs say is in per_cpu then, as of
 * the begin. */
int pinned_threads_snapshot(struct pinned_threads *p, struct error *why);
const struct name *pinned_threads_name(struct pinned_threads *p, uint64_t key, uint64_t now);
void pinned_threads_close(struct pinned_threads *p);

/* The entries that a map of exited threads needs on a host: at pinning. */
void pinned_threads_resize(const struct object *obj, int cpus);

#endif
