/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * I/O of processes: counters by process and disk, and the requests in flight.
 *
 * A request keeps a place of its own, found by its address, after it completes: drivers allocate their
 * requests once and reuse them. So nothing is created or freed per request, and the counters are looked up
 * once, at completion. Counters only grow; readers subtract the previous values, and find what is in flight
 * in the places.
 */
#ifndef HOG_BPF_BLOCK_BLOCK_H
#define HOG_BPF_BLOCK_BLOCK_H

#include "lib/exit_names.bpf.h"
#include "lib/exact_maps.bpf.h"
#include "lib/sketch.bpf.h"
#include "lib/histogram.bpf.h"
#include "lib/task_key.bpf.h"

/* Keys (task_key.bpf.h) that stand for no process, in addition to HOG_KEY_OUTSIDE. */
enum hog_io_nobody {
    HOG_IO_WRITEBACK = 2, /* a kernel thread wrote back pages that were dirtied before hog started */
    HOG_IO_JOURNAL,
    HOG_IO_SWAP,
};
const volatile enum hog_io_nobody io_nobody_layout = HOG_IO_WRITEBACK;

struct hog_io_key {
    u32 process, thread, birth; /* as in task_key.bpf.h */
    u32 device;                 /* major << 20 | minor, of the whole disk */
};

struct hog_io {
    u64 reads, writes, other; /* completed requests; other: flushes, discards, zeroes */
    u64 read_bytes, write_bytes;
    u64 failed;
    u64 busy; /* ns with at least one request in flight, of completed ones */
    /* CLOCK_MONOTONIC, ns: the latest busy interval, and the end of the one before. */
    u64 from, until, before;
    u64 padding[6];
    u32 times[HOG_HISTOGRAM_BUCKETS];  /* reads and writes by total time, */
    u32 queued[HOG_HISTOGRAM_BUCKETS]; /* by time until the driver got them, */
    u32 served[HOG_HISTOGRAM_BUCKETS]; /* and by time from then on */
};

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 512);
    __type(key, struct hog_io_key);
    __type(value, struct hog_io);
} hog_io SEC(".maps");

/* Initial value of an entry: too large for the stack of a program. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct hog_io);
} hog_io_none SEC(".maps");

/* LEFT: bytes still to be moved, whole sectors; 0: only the request knows. */
enum { WRITES = 1, MOVES_NOTHING = 2, LEFT = ~511u };

struct hog_io_request {
    u64 request; /* 0: never used */
    u64 who;     /* key, as in task_key.bpf.h or enum hog_io_nobody */
    u64 made;    /* ns, CLOCK_MONOTONIC; 0: not in flight */
    u64 issued;  /* when it was issued to the driver; 0: not yet */
    u32 device;
    u32 flags;
};
#define REQUEST_SETS 10 /* log2 */
#define REQUEST_WAYS 4
struct hog_io_requests {
    struct hog_io_request requests[REQUEST_WAYS << REQUEST_SETS];
};
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct hog_io_requests);
} hog_io_requests SEC(".maps");

struct hog_io_words {
    u64 lost; /* requests without room in a table, or whose end was not seen */
    u64 padding[7];
} __attribute__((aligned(64)));
struct hog_io_words io_words = {};

TRACKED_MAP;
const volatile bool only_tracked;

static __always_inline bool is_asked_for(u64 key)
{
    u32 process = process_of(key);

    return !only_tracked || bpf_map_lookup_elem(&hog_tracked, &process);
}

/* ---- counters ---- */

static __always_inline struct hog_io *io_of(const struct hog_io_key *key)
{
    struct hog_io *io = bpf_map_lookup_elem(&hog_io, key);
    u32 first = 0;

    if (io)
        return io;
    struct hog_io *none = bpf_map_lookup_elem(&hog_io_none, &first);
    if (!none)
        return NULL;
    /* BPF_NOEXIST and a second lookup: another CPU may have been first. */
    bpf_map_update_elem(&hog_io, key, none, BPF_NOEXIST);
    return bpf_map_lookup_elem(&hog_io, key);
}

/* The part of [made, now) that no other request covered, added to the time with at least one in flight.
 * Requests complete in any order, but rarely does one span more than one gap between others. If two CPUs get
 * here at the same moment, an interval can count twice or not at all: there is no lock. The reader does the
 * same for requests in flight (src/source/block/block.c). */
static __always_inline void count_busy(struct hog_io *io, u64 made, u64 now)
{
    u64 until = read_once(io->until), from = read_once(io->from), more;

    if (made >= until) {
        more = now - made;
        io->before = until;
        io->from = made;
    } else {
        more = now > until ? now - until : 0;
        if (made < from) {
            u64 before = read_once(io->before), begin = made > before ? made : before;
            more += from - begin;
            io->from = begin;
        }
    }
    if (now > until)
        io->until = now;
    add(io->busy, more);
}

static __always_inline void count_time(u32 times[HOG_HISTOGRAM_BUCKETS], u32 bucket)
{
    if (bucket < HOG_HISTOGRAM_BUCKETS)
        add(times[bucket], 1);
}

/* ---- requests ---- */

static __always_inline struct hog_io_requests *request_table(void)
{
    u32 first = 0;

    return bpf_map_lookup_elem(&hog_io_requests, &first);
}

/* The number of a request: its address, or, where the verifier knows it as a pointer and refuses arithmetic
 * with it, its distance from the table. So all programs in use must be of one kind. */
static __always_inline u64 request_number(bool direct, const void *rq, const struct hog_io_requests *table)
{
    u64 number = (u64)rq;

    if (direct)
        asm volatile("%0 -= %1" : "+r"(number) : "r"(table));
    return number;
}

static __always_inline struct hog_io_request *request_set(struct hog_io_requests *table, u64 request)
{
    return &table->requests[((request * pipe_multiplier(0)) >> (64 - REQUEST_SETS)) * REQUEST_WAYS];
}

static __always_inline struct hog_io_request *request_find(struct hog_io_requests *table, u64 request)
{
    struct hog_io_request *place = request_set(table, request);

    barrier_var(place);
#pragma unroll
    for (int i = 0; i < REQUEST_WAYS; i++, place++)
        if (read_once(place->request) == request)
            return place;
    return NULL;
}

/* A place for a request that has none: an unused one, else that of another request that is not in flight. If
 * two CPUs take the same place at the same moment, one of them notices by reading it back. NULL: all are in
 * flight. */
static __attribute__((noinline)) struct hog_io_request *request_take(struct hog_io_requests *table,
                                                                     u64 request)
{
    struct hog_io_request *place = table ? request_set(table, request) : NULL, *idle = NULL;

    if (!place)
        return NULL;
#pragma unroll
    for (int i = 0; i < REQUEST_WAYS; i++, place++)
        if (!read_once(place->made) && (!idle || !read_once(place->request)))
            idle = place;
    if (!idle)
        return NULL;
    write_once(idle->request, request);
    barrier();
    return read_once(idle->request) == request ? idle : NULL;
}

/* Returns whether the place belonged to another owner before. A request that was still in flight there has
 * ended unseen: on busy hosts (6.18) some completions reach perf but neither of our two programs, and the
 * kernel does not count them as missed. */
static __always_inline bool request_begin(struct hog_io_requests *table, u64 request, u64 who, u32 device,
                                          u32 flags)
{
    struct hog_io_request *r = request_find(table, request);

    if (!r)
        r = request_take(table, request);
    if (!r) {
        add(io_words.lost, 1);
        return false;
    }
    bool other = r->who != who;
    if (unlikely(read_once(r->made)))
        add(io_words.lost, 1);
    write_once(r->made, 0);
    barrier();
    r->who = who;
    r->device = device;
    r->flags = flags;
    r->issued = 0;
    barrier();
    write_once(r->made, bpf_ktime_get_ns());
    return other;
}

static __always_inline void count_bytes(struct hog_io *io, u32 flags, u32 bytes)
{
    if (flags & MOVES_NOTHING)
        return;
    if (flags & WRITES)
        add(io->write_bytes, bytes);
    else
        add(io->read_bytes, bytes);
}

static __always_inline void count_request(struct hog_io *io, const struct hog_io_request *r, u64 now)
{
    u64 made = r->made, issued = r->issued;
    u32 all = histogram_bucket(now - made), queued = 0, served = all;

    if (issued) { /* else it was created when the driver got it */
        queued = histogram_bucket(issued - made);
        served = histogram_bucket(now - issued);
    }
    count_busy(io, made, now);
    if (r->flags & MOVES_NOTHING) {
        add(io->other, 1);
        return;
    }
    if (r->flags & WRITES)
        add(io->writes, 1);
    else
        add(io->reads, 1);
    count_time(io->times, all);
    count_time(io->queued, queued);
    count_time(io->served, served);
}

/* `left`: bytes that were still to be moved; `bytes` of them are moved now. */
static __always_inline void request_end(struct hog_io_request *r, u32 bytes, u32 left, bool failed)
{
    struct hog_io_key key = {
        .process = process_of(r->who),
        .thread = (r->who >> HOG_KEY_THREAD) & ((1u << (HOG_KEY_PROCESS - HOG_KEY_THREAD)) - 1),
        .birth = r->who & BIRTH_MASK,
        .device = r->device,
    };
    struct hog_io *io = io_of(&key);

    if (io) {
        count_bytes(io, r->flags, bytes);
        if (bytes < left && !failed) {
            r->flags &= ~LEFT;
            return;
        }
        count_request(io, r, bpf_ktime_get_ns());
        if (failed)
            add(io->failed, 1);
    } else {
        add(io_words.lost, 1);
    }
    write_once(r->made, 0);
}

#endif
