/* SPDX-License-Identifier: GPL-2.0-only */
/* On which disk each process (with -t: each thread) does its I/O in a window: bpf/disks.bpf.c says what
 * counts as the disk, and whose writes are. */
#ifndef HOG_SOURCE_DISKS_DISKS_H
#define HOG_SOURCE_DISKS_DISKS_H

#include "host/disk.h"
#include "source/shared/source.h"

struct disks;

struct disk_use {
    uint32_t major, minor; /* of the whole disk */
    struct disk disk;
    uint64_t bytes;
    uint64_t reads, writes; /* as they were submitted: the kernel may yet merge or split them */
};

/* open: -ENOTSUP where the keys of sched, if that is open, are not made from task_struct. */
extern const struct source disks_source;

/* Of the session; NULL: it is not open. */
struct disks *disks_of_session(const struct source_context *context);

/* The disk that had most of the key's bytes in the window, and what it had. false: none had any. */
bool disks_of(const struct disks *d, uint64_t key, struct disk_use *use);

#endif
