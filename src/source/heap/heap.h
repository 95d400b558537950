/* SPDX-License-Identifier: GPL-2.0-only */
/* The heap of each process, from the programs of bpf/heap.bpf.c. */
#ifndef HOG_SOURCE_HEAP_HEAP_H
#define HOG_SOURCE_HEAP_HEAP_H

#include "host/names.h"
#include "source/heap/probes.h"
#include "source/shared/collector.h"
#include "base/hash_table.h"

struct hog_heap; /* bpf/heap/heap_blocks.bpf.h */

struct alloc_counts {
    uint64_t allocs, frees, bytes, failed;
};

/* The heap of a process. */
struct heap {
    uint64_t id;  /* by PID in the initial namespace */
    uint64_t who; /* key as in rows */
    uint64_t life;
    int64_t live, mapped;       /* bytes */
    double error;               /* sampling error of `live` in bytes, at 95 % */
    struct alloc_counts counts; /* since it was first seen */
    struct alloc_counts before; /* the same at the previous flip */
    uint64_t code;              /* an address within its allocator */
    uint64_t snapshot;          /* last snapshot that had it */
    uint64_t left;              /* blocks that its execs left in the map, since the start */
    bool dead;
    uint64_t kept_life, kept_at; /* leaks.c: of which life, and when, its mappings were read */
    /* The allocator's mapping, cached: */
    uint64_t lib_start, lib_end;
    char lib[48];
    size_t lib_length;
};

struct hog_heap;

struct heaps {
    const struct source_context *context;
    struct collector collector;
    struct alloc_probes *probes;
    volatile struct hog_heap *places; /* shared with the programs */
    bool by_task;
    struct hash_table table; /* of struct heap */
    uint64_t snapshots;
    uint64_t left;              /* orphaned blocks in the map */
    uint64_t lost, lost_before; /* allocations, since the start */
    uint64_t capacity;
    int unseen; /* -errno: an allocator could not be probed */
    struct error unseen_why;
};

/* Of the command line. */
extern struct heap_options {
    unsigned pointers; /* blocks that are kept, a power of two; 0: the default */
    uint64_t leaks_ns; /* report blocks older than this by allocating function; 0: none */
} heap_options;

extern const struct source heap_source;

/* The session's instance; NULL: not open. */
struct heaps *heaps_of(const struct source_context *context);

uint64_t heaps_lost(const struct heaps *heaps); /* in the window */
uint64_t heaps_blocks(const struct heaps *heaps);

/* Sampling: of the smallest blocks one in so many is kept now. */
uint64_t heaps_one_in(const struct heaps *heaps);

/* Looks up the file of its allocator; length 0: unknown. */
void heaps_lib(struct heaps *heaps, struct heap *heap);
const struct name *heaps_name(struct heaps *heaps, uint64_t who, uint64_t now);

#endif
