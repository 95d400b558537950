/* SPDX-License-Identifier: GPL-2.0-only */
/* Which process dirtied the pages that a kernel thread writes back: the last one that dirtied a clean page of
 * the file. In the place that the file leads to; of two files that share a place the later one is kept. */
#ifndef HOG_BPF_DISKS_DIRTIER_H
#define HOG_BPF_DISKS_DIRTIER_H

#include "lib/bio_inode.bpf.h"
#include "lib/cast.bpf.h"
#include "lib/sketch.bpf.h"
#include "lib/task_key.bpf.h"

#define DIRTIERS 12 /* log2 */

struct hog_dirtier {
    u64 inode; /* its address; 0: free */
    u64 task;  /* its address and number: making its key costs more */
    u64 thread;
    u64 key;
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1 << DIRTIERS);
    __type(key, u32);
    __type(value, struct hog_dirtier);
} hog_dirtiers SEC(".maps");

/* bpf_probe_read_kernel is allowed: lockdown=confidentiality forbids it. */
const volatile bool can_probe = true;

static __always_inline struct hog_dirtier *dirtier_at(u64 inode)
{
    u32 place = (inode * pipe_multiplier(1)) >> (64 - DIRTIERS);

    return bpf_map_lookup_elem(&hog_dirtiers, &place);
}

/* `mapping` of a page that `task`, which is `current`, makes dirty. */
static __always_inline void note_dirtier(bool direct, struct address_space *mapping, struct task_struct *task)
{
    u64 inode = 0;
    u32 thread = kernel_field(direct, task, pid);

    if (!mapping)
        return;
    bpf_probe_read_kernel(&inode, sizeof inode, __builtin_preserve_access_index(&mapping->host));
    struct hog_dirtier *dirtier = inode ? dirtier_at(inode) : NULL;
    if (!dirtier || (dirtier->inode == inode && dirtier->task == (u64)task && dirtier->thread == thread) ||
        kernel_field(direct, task, flags) & PF_KTHREAD)
        return;
    dirtier->inode = 0;
    barrier();
    dirtier->task = (u64)task;
    dirtier->thread = thread;
    dirtier->key = task_key(direct, direct ? cast_task(task) : task, thread).key;
    barrier();
    dirtier->inode = inode;
}

/* The key of the process that dirtied the pages of a bio; 0: not known. */
static __attribute__((noinline)) u64 dirtied_by(struct bio *bio)
{
    u64 inode = bio_inode(bio);
    struct hog_dirtier *dirtier = inode ? dirtier_at(inode) : NULL;

    return dirtier && dirtier->inode == inode ? dirtier->key : 0;
}

#endif
