/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A histogram for each of the keys that are active, in bounded memory: a table of seats that all CPUs share.
 * A key has a few seats that it may take; whoever counts for it first takes a free one. The reader
 * (src/sketch/seats) copies the table at each turn, and frees seats whose keys did nothing for a window.
 * A key that finds no seat has no histogram.
 *
 * Counts only grow, also when a seat changes hands: the reader takes differences. So there is nothing to
 * clear, and nobody to wait for. Before 5.12 programs cannot compare and exchange: when two CPUs take a seat
 * for two keys at the same moment, one of them finds out by a second look and tries again with its next
 * count; when they take two seats for one key, the reader adds these up.
 */
#ifndef HOG_SEATS_BPF_H
#define HOG_SEATS_BPF_H

#include "hashpipe.bpf.h"
#include "histogram.bpf.h"

#define HOG_SEATS 128
#define SEAT_WAYS 4
#define SEAT_SETS 5 /* log2(HOG_SEATS / SEAT_WAYS) */

struct hog_seat {
    u64 key; /* 0: free */
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

/* Counts a time of ns for the key (not 0). */
static __always_inline void seat_count(u64 key, u64 ns)
{
    u32 first = 0, bucket = histogram_bucket(ns);
    struct hog_seats *table = bpf_map_lookup_elem(&hog_seats, &first);

    if (!table || bucket >= HOG_HISTOGRAM_BUCKETS)
        return;
    u32 set = (key * pipe_multiplier(6)) >> (64 - SEAT_SETS);
    struct hog_seat *seat = &table->seats[set * SEAT_WAYS];
#pragma unroll
    for (int i = 0; i < SEAT_WAYS; i++, seat++)
        if (read_once(seat->key) == key)
            goto count;
    seat = &table->seats[set * SEAT_WAYS];
#pragma unroll
    for (int i = 0; i < SEAT_WAYS; i++, seat++)
        if (!read_once(seat->key))
            goto take;
    return;
take:
    write_once(seat->key, key);
    barrier();
    if (read_once(seat->key) != key)
        return;
count:
    __sync_fetch_and_add(&seat->counts[bucket], 1);
}

#endif
