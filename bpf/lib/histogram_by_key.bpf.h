/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A histogram for each active key, in bounded memory: a table of places (seats) that all CPUs share. A key
 * may take one of a few seats: a free one, else that of the lightest key, if the new key is more than twice
 * as heavy. User space (src/source/shared/histogram_by_key) copies the table at each turn, and frees seats
 * whose keys did nothing for a window. A key without a seat has no histogram.
 *
 * Before 5.12 programs cannot compare and exchange: if two CPUs take a seat for two keys at the same moment,
 * one of them notices by reading it back and tries again at its next count; if they take two seats for one
 * key, user space adds these up. A CPU that still counts for the previous owner may leave one count behind.
 */
#ifndef HOG_BPF_LIB_HISTOGRAM_BY_KEY_H
#define HOG_BPF_LIB_HISTOGRAM_BY_KEY_H

#include "lib/sketch.bpf.h"
#include "lib/histogram.bpf.h"

#define HOG_SEATS 128
#define SEAT_WAYS 4
#define SEAT_SETS 5 /* log2(HOG_SEATS / SEAT_WAYS) */

struct hog_seat {
    u64 key;    /* 0: free */
    u64 weight; /* sum of the key's times; user space halves it at each turn */
    u32 owners; /* number of owners so far: counts restart at 0 with each */
    u32 reserved;
    u32 counts[HOG_HISTOGRAM_BUCKETS];
};

struct hog_seats {
    struct hog_seat seats[HOG_SEATS];
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct hog_seats);
} hog_seats SEC(".maps");

static __always_inline void seat_take(struct hog_seat *seat, u64 key, u64 heavy)
{
    u64 *counts = (u64 *)seat->counts;

    write_once(seat->key, key);
    barrier();
    if (read_once(seat->key) != key)
        return;
    seat->owners++;
    seat->weight = heavy;
#pragma unroll
    for (u32 i = 0; i < HOG_HISTOGRAM_BUCKETS / 2; i++)
        write_once(counts[i], 0);
}

/* A pointer to the set rather than an index into the table: verifiers (6.1) lose the bounds of 32-bit
 * arithmetic and of numbers on the stack, but not those of pointers. */
static __always_inline struct hog_seat *seat_at(struct hog_seat *set, u64 way)
{
    barrier_var(way);
    return set + (way & (SEAT_WAYS - 1));
}

/* The seat of the set that a key without one may take; SEAT_WAYS: none. */
static __always_inline u64 seat_free(const struct hog_seat *set, u64 heavy)
{
    u64 least = heavy / 2, lightest = SEAT_WAYS;

#pragma unroll
    for (u32 i = 0; i < SEAT_WAYS; i++) {
        u64 weight = choose(is_set(read_once(set[i].key)), read_once(set[i].weight), 0);
        u64 lighter = is_less(weight, least);
        least = choose(lighter, weight, least);
        lightest = choose(lighter, i, lightest);
    }
    return lightest;
}

/* The seat of a key, possibly just taken; NULL: none. */
static __always_inline struct hog_seat *seat_of(u64 key, u64 heavy)
{
    u32 first = 0;
    struct hog_seats *table = bpf_map_lookup_elem(&hog_seats, &first);
    u64 way;

    if (!table)
        return NULL;
    struct hog_seat *set = &table->seats[((key * pipe_multiplier(6)) >> (64 - SEAT_SETS)) * SEAT_WAYS];
    barrier_var(set);
#pragma unroll
    for (way = 0; way < SEAT_WAYS; way++)
        if (read_once(set[way].key) == key)
            goto found;
    way = seat_free(set, heavy);
    if (way >= SEAT_WAYS)
        return NULL;
    seat_take(seat_at(set, way), key, heavy);
found:
    return seat_at(set, forget(way, key));
}

/* Counts a time of ns `times` times for the key (not 0). In user space's measure of weight: what this adds,
 * and what the key has come to (heavy), which decides whether it gets a seat. */
static __always_inline void seat_count_weighed(u64 key, u64 ns, u64 heavy, u64 weight, u32 times)
{
    struct hog_seat *seat = seat_of(key, heavy);

    if (!seat)
        return;
    seat->weight += weight;
    u32 bucket = histogram_bucket(ns);
    if (bucket < HOG_HISTOGRAM_BUCKETS)
        __sync_fetch_and_add(&seat->counts[bucket], times);
}

/* For keys whose weight is their time; `heavy`: the sum of their times on this CPU. */
static __always_inline void seat_count_all(u64 key, u64 ns, u64 heavy, u32 times)
{
    seat_count_weighed(key, ns, heavy, ns * times, times);
}

static __always_inline void seat_count(u64 key, u64 ns, u64 heavy)
{
    seat_count_all(key, ns, heavy, 1);
}

#endif
