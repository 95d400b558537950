/* SPDX-License-Identifier: GPL-2.0-only */
/* What each process (with -t: each thread) had disks do in a window, and how long it waited for that: from
 * the counters of bpf/block/block.bpf.c, which only grow. */
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

/* Of a process on a disk, in the window. One that only waits is on none: its busy_ns is how long it waited.
 */
#define IO_NO_DEVICE 0xffffffffu
struct io_sums {
    uint64_t who; /* key; less than HOG_IO_SWAP + 1: nobody, see enum hog_io_nobody */
    uint32_t device;
    uint64_t reads, writes, other, failed; /* requests done */
    uint64_t read_bytes, write_bytes;
    uint64_t busy_ns;                      /* with at least one on its way */
    uint64_t flying;                       /* on their way at the end */
    bool timed;                            /* the rest is known */
    struct io_times times, queued, served; /* all of it; until the driver had it; from then on */
};

/* All in the window. */
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

/* Of the session; NULL: it is not open. */
struct block_io *block_io_of(const struct source_context *context);

/* Those with something to show, heaviest first: by bytes, then by requests, then by the time that they
 * waited. Pointers are valid until the next collect. */
size_t block_io_top(struct block_io *b, const struct io_sums *const **top);

/* Time that threads slept for I/O in the window, ns. false: not known. */
bool block_io_waited(const struct block_io *b, uint64_t who, uint64_t *ns);
const struct io_totals *block_io_totals(const struct block_io *b);
const struct disk *block_io_disk(struct block_io *b, uint32_t device, uint64_t now); /* until the next call */
const struct name *block_io_name(struct block_io *b, uint64_t who, uint64_t now);

#endif
