/* SPDX-License-Identifier: GPL-2.0-only */
/* The disk on which each process (with -t: each thread) does its I/O in a window. bpf/disks.bpf.c defines
 * what counts as the disk, and which process a write belongs to. */
#ifndef HOG_SOURCE_DISKS_DISKS_H
#define HOG_SOURCE_DISKS_DISKS_H

#include "host/disk.h"
#include "source/shared/source.h"

struct disks;

struct disk_use {
    uint32_t major, minor; /* of the whole disk */
    struct disk disk;
    uint64_t bytes;
    uint64_t reads, writes; /* as submitted, before the kernel merges or splits them */
};

/* open: -ENOTSUP if sched is open and does not make its keys from task_struct. */
extern const struct source disks_source;

/* The session's; NULL: it is not open. */
struct disks *disks_of_session(const struct source_context *context);

/* The disk with most of the key's bytes in the window. false: no I/O. */
bool disks_of(const struct disks *d, uint64_t key, struct disk_use *use);

/* Of a disk: which key moved most bytes in the window, of those that `counts` accepts, and how many all did.
 * false: none. */
struct disk_share {
    uint64_t key, bytes, all;
};
typedef bool (*disks_fn)(const void *context, uint64_t key);
bool disks_heaviest(const struct disks *d, uint32_t major, uint32_t minor, disks_fn counts,
                    const void *context, struct disk_share *share);

#endif
