/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What processes have disks do: counters by process and disk, and the requests that are on their way.
 *
 * A request has a place for itself, found by its number, that it keeps when it is done: drivers make their
 * requests once and use them again and again. So nothing is made and freed for a request, and the counters
 * are looked up once, when it is done. Counters only grow; readers subtract what was before, and see in the
 * places what is still on its way.
 */
#ifndef HOG_BPF_BLOCK_BLOCK_H
#define HOG_BPF_BLOCK_BLOCK_H

#include "lib/exit_names.bpf.h"
#include "lib/exact_maps.bpf.h"
#include "lib/sketch.bpf.h"
#include "lib/histogram.bpf.h"
#include "lib/task_key.bpf.h"

/* Keys (who.bpf.h) of those who are no process. Beside HOG_KEY_OUTSIDE. */
enum hog_io_nobody {
    HOG_IO_WRITEBACK = 2, /* a kernel thread wrote back what somebody had written before hog came */
    HOG_IO_JOURNAL,
    HOG_IO_SWAP,
};
const volatile enum hog_io_nobody io_nobody_layout = HOG_IO_WRITEBACK;

struct hog_io_key {
    u32 process, thread, birth; /* as in who.bpf.h */
    u32 device;                 /* major << 20 | minor, of the whole disk */
};

struct hog_io {
    u64 reads, writes, other; /* requests done; other: flushes, discards, zeroes */
    u64 read_bytes, write_bytes;
    u64 failed;
    u64 busy; /* ns with at least one on its way, of those that are done */
    /* CLOCK_MONOTONIC, ns: the latest stretch of that, and where the one before ended. */
    u64 from, until, before;
    u64 padding[6];
    u32 times[HOG_HISTOGRAM_BUCKETS];  /* reads and writes by their time, */
    u32 queued[HOG_HISTOGRAM_BUCKETS]; /* of that until the driver got them, */
    u32 served[HOG_HISTOGRAM_BUCKETS]; /* and from then on */
};

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 512);
    __type(key, struct hog_io_key);
    __type(value, struct hog_io);
} hog_io SEC(".maps");

/* What a new one begins with: it is more than a program's stack holds. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct hog_io);
} hog_io_none SEC(".maps");

/* LEFT: bytes that are to be moved, whole sectors; 0: only the request says. */
enum { WRITES = 1, MOVES_NOTHING = 2, LEFT = ~511u };

struct hog_io_request {
    u64 request; /* 0: free for good */
    u64 who;     /* key, as in who.bpf.h or enum hog_io_nobody */
    u64 made;    /* ns, CLOCK_MONOTONIC; 0: it is not on its way */
    u64 issued;  /* when the driver got it; 0: not yet */
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
    u64 lost; /* requests that found no room, in their table or for their process and disk, or ended unseen */
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
    /* BPF_NOEXIST and a second look: another CPU may have come first. */
    bpf_map_update_elem(&hog_io, key, none, BPF_NOEXIST);
    return bpf_map_lookup_elem(&hog_io, key);
}

/* What a request that took from `made` to `now` adds to the time with at least one on its way: the part of it
 * that no other covers. Requests are done in any order, but seldom so that one spans more than one gap
 * between others. Where two CPUs get here at the same moment, a stretch can count twice or not at all: there
 * is no lock. The reader does the same for those that are not done (src/source/block/block.c). */
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

/* What a request is called: where it is, but where the verifier knows that it is an address, which it lets
 * nobody reckon with, how far that is from the table. So all programs must be of the one kind. */
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

/* For one that has no place yet: one that no other has, else that of another that is not on its way. When two
 * CPUs take it at the same moment, one finds out by a second look. NULL: all are on their way. */
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

/* Returns whether its place was another's before. One that was still on its way ended unseen: on
 * busy hosts (6.18) some ends reach perf and neither of our two programs, which the kernel does not count as
 * missed. */
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

    if (issued) { /* else it was made when the driver got it */
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

/* `left`: bytes that were still to be moved, of which now `bytes` are. */
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
