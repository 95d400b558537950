/* SPDX-License-Identifier: GPL-2.0-only */
/* Disk requests of each process (with -t: each thread) in a window, and how long it slept for I/O: from the
 * counters of bpf/block.bpf.c, which only grow. */
#ifndef HOG_SOURCE_BLOCK_BLOCK_H
#define HOG_SOURCE_BLOCK_BLOCK_H

#include "host/disk.h"
#include "host/names.h"
#include "source/shared/collector.h"

struct block_io;

/* Quantiles of the times of reads and writes, ns. */
struct io_times {
    uint64_t p50, p95, p99, most;
};

/* A process on a disk, in the window. One that only waits has no disk, and its wait in busy_ns. */
#define IO_NO_DEVICE 0xffffffffu
struct io_sums {
    uint64_t who; /* key; up to HOG_IO_SWAP: no process, see enum hog_io_nobody */
    uint32_t device;
    uint64_t reads, writes, other, failed; /* requests completed */
    uint64_t read_bytes, write_bytes;
    uint64_t busy_ns; /* time with at least one request in flight */
    uint64_t flying;  /* in flight at the end */
    bool timed;       /* what follows is known */
    struct io_times times, queued,
        served; /* whole request; until issued to the driver; from issue to completion */
};

/* Totals of the window. */
struct io_totals {
    uint64_t reads, writes, other;
    uint64_t read_bytes, write_bytes;
    uint64_t lost;
};

extern const struct hook_ways block_ways[];

/* Of the command line. */
extern struct block_options {
    const char *devices; /* only these disks, a comma list; NULL: all */
} block_options;

extern const struct source block_source;

/* The session's instance; NULL: not open. */
struct block_io *block_io_of(const struct source_context *context);

/* Rows, heaviest first: by bytes, then requests, then wait time. Pointers stay valid until the next collect.
 */
size_t block_io_top(struct block_io *b, const struct io_sums *const **top);

/* Time that threads slept for I/O in the window, ns. false: unknown. */
bool block_io_waited(const struct block_io *b, uint64_t who, uint64_t *ns);
const struct io_totals *block_io_totals(const struct block_io *b);
const struct disk *block_io_disk(struct block_io *b, uint32_t device,
                                 uint64_t now); /* valid until the next call */
const struct name *block_io_name(struct block_io *b, uint64_t who, uint64_t now);

#endif
