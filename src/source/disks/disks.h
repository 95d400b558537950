/* SPDX-License-Identifier: GPL-2.0-only */
/* On which disk each process (with -t: each thread) does its I/O in a window: bpf/disks.bpf.c says what
 * counts as the disk, and whose writes are. */
#ifndef HOG_SOURCE_DISKS_DISKS_H
#define HOG_SOURCE_DISKS_DISKS_H

#include "host/disk.h"
#include "view/view.h"

struct disks;

struct disk_use {
    uint32_t major, minor; /* of the whole disk */
    struct disk disk;
    uint64_t bytes;
    uint64_t reads, writes; /* as they were submitted: the kernel may yet merge or split them */
};

extern const struct hook_ways disks_ways[];

int disks_open(struct disks **out, const struct source_context *context, struct hook_report hooks[MAX_HOOKS],
               struct error *why);
void disks_flip(struct disks *d);
int disks_collect(struct disks *d, struct error *why); /* SKETCH_GRACE_NS after the turn, or later */

/* The disk that had most of the key's bytes in the window, and what it had. false: none had any. */
bool disks_of(const struct disks *d, uint64_t key, struct disk_use *use);

uint64_t disks_lost(const struct disks *d); /* reads and writes that the sketch had to drop in the window */
void disks_cost(struct disks *d, struct program_cost *cost);
void disks_close(struct disks *d);

#endif
