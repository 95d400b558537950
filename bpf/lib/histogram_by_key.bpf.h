/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A histogram for each active key, in bounded memory: a table of places that all CPUs share. A key
 * may take one of a few places: a free one, else that of the lightest key, if the new key is more than twice
 * as heavy. User space (src/source/shared/histogram_by_key) copies the table at each flip, and frees places
 * whose keys did nothing for a window. A key without a place has no histogram.
 *
 * Before 5.12 programs cannot compare and exchange: if two CPUs take a place for two keys at the same moment,
 * one of them notices by reading it back and tries again at its next count; if they take two places for one
 * key, user space adds these up. A CPU that still counts for the previous owner may leave one count behind.
 */
#ifndef HOG_BPF_LIB_HISTOGRAM_BY_KEY_H
#define HOG_BPF_LIB_HISTOGRAM_BY_KEY_H

#include "lib/sketch.bpf.h"
#include "lib/histogram.bpf.h"

#define HOG_KEY_HISTOGRAMS 128
#define HISTOGRAM_WAYS     4
#define HISTOGRAM_SETS     5 /* log2(HOG_KEY_HISTOGRAMS / HISTOGRAM_WAYS) */

struct hog_key_histogram {
    u64 key;    /* 0: free */
    u64 weight; /* sum of the key's times; user space halves it at each flip */
    u32 owners; /* number of owners so far: counts restart at 0 with each */
    u32 reserved;
    u32 counts[HOG_HISTOGRAM_BUCKETS];
};

struct hog_histograms {
    struct hog_key_histogram histograms[HOG_KEY_HISTOGRAMS];
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct hog_histograms);
} hog_histograms SEC(".maps");

static __always_inline void histogram_take(struct hog_key_histogram *histogram, u64 key, u64 heavy)
{
    u64 *counts = (u64 *)histogram->counts;

    write_once(histogram->key, key);
    barrier();
    if (read_once(histogram->key) != key)
        return;
    histogram->owners++;
    histogram->weight = heavy;
#pragma unroll
    for (u32 i = 0; i < HOG_HISTOGRAM_BUCKETS / 2; i++)
        write_once(counts[i], 0);
}

/* A pointer to the set rather than an index into the table: verifiers (6.1) lose the bounds of 32-bit
 * arithmetic and of numbers on the stack, but not those of pointers. */
static __always_inline struct hog_key_histogram *histogram_at(struct hog_key_histogram *set, u64 way)
{
    barrier_var(way);
    return set + (way & (HISTOGRAM_WAYS - 1));
}

/* The place of the set that a key without one may take; HISTOGRAM_WAYS: none. */
static __always_inline u64 histogram_free(const struct hog_key_histogram *set, u64 heavy)
{
    u64 least = heavy / 2, lightest = HISTOGRAM_WAYS;

#pragma unroll
    for (u32 i = 0; i < HISTOGRAM_WAYS; i++) {
        u64 weight = choose(is_set(read_once(set[i].key)), read_once(set[i].weight), 0);
        u64 lighter = is_less(weight, least);
        least = choose(lighter, weight, least);
        lightest = choose(lighter, i, lightest);
    }
    return lightest;
}

/* The histogram of a key, possibly just taken; NULL: none. */
static __always_inline struct hog_key_histogram *histogram_of(u64 key, u64 heavy)
{
    u32 first = 0;
    struct hog_histograms *table = bpf_map_lookup_elem(&hog_histograms, &first);
    u64 way;

    if (!table)
        return NULL;
    struct hog_key_histogram *set =
        &table->histograms[((key * pipe_multiplier(6)) >> (64 - HISTOGRAM_SETS)) * HISTOGRAM_WAYS];
    barrier_var(set);
#pragma unroll
    for (way = 0; way < HISTOGRAM_WAYS; way++)
        if (read_once(set[way].key) == key)
            goto found;
    way = histogram_free(set, heavy);
    if (way >= HISTOGRAM_WAYS)
        return NULL;
    histogram_take(histogram_at(set, way), key, heavy);
found:
    return histogram_at(set, forget(way, key));
}

/* Counts a time of ns `times` times for the key (not 0). In user space's measure of weight: what this adds,
 * and what the key has come to (heavy), which decides whether it gets one. */
static __always_inline void histogram_count_weighed(u64 key, u64 ns, u64 heavy, u64 weight, u32 times)
{
    struct hog_key_histogram *histogram = histogram_of(key, heavy);

    if (!histogram)
        return;
    histogram->weight += weight;
    u32 bucket = histogram_bucket(ns);
    if (bucket < HOG_HISTOGRAM_BUCKETS)
        __sync_fetch_and_add(&histogram->counts[bucket], times);
}

/* For keys whose weight is their time; `heavy`: the sum of their times on this CPU. */
static __always_inline void histogram_count_all(u64 key, u64 ns, u64 heavy, u32 times)
{
    histogram_count_weighed(key, ns, heavy, ns * times, times);
}

static __always_inline void histogram_count(u64 key, u64 ns, u64 heavy)
{
    histogram_count_all(key, ns, heavy, 1);
}

#endif
