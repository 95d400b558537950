/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads and writes by process, mount, direction, kind of call and size: shared by all hooks of file.bpf.c.
 *
 * Counts are in cells of one array and only grow: readers subtract. A hash map holds the cell of each key;
 * as threads mostly repeat themselves, each remembers its last cell per direction, so that a read costs no
 * hashing. Unused cells are in a queue, which user space may refill.
 */
#ifndef HOG_BPF_FILE_CELLS_H
#define HOG_BPF_FILE_CELLS_H

#include "lib/cgroup_ids.bpf.h"
#include "lib/current_key.bpf.h"
#include "lib/exact_maps.bpf.h"
#include "lib/histogram.bpf.h"
#include "lib/log2.bpf.h"
#include "kernel/fs.bpf.h"
#include "kernel/mm.bpf.h"
#include "kernel/task.bpf.h"
#include "lib/task_key.bpf.h"

enum hog_file_op { HOG_FILE_READ, HOG_FILE_WRITE };

/* The kind of call: plain is read, write and their p- forms, vector the same with v. */
enum hog_file_via {
    HOG_VIA_NONE,
    HOG_VIA_PLAIN,
    HOG_VIA_VECTOR,
    HOG_VIA_SENDFILE,
    HOG_VIA_SPLICE,
    HOG_VIA_COPY,
    HOG_VIA_URING,
    HOG_VIA_MMAP,
    HOG_VIA_AIO,
};

struct hog_file_key {
    u64 who;    /* 0: all */
    u32 mount;  /* its number in mountinfo */
    u32 device; /* of the file system, in the kernel's encoding: major << 20 | minor */
    enum hog_file_op op;
    enum hog_file_via via;
    u32 size; /* bits of the number of bytes: 0 is 0, 1 is 1, 2 is 2..3, 13 is 4..8 KiB */
    u32 reserved;
};

struct hog_file_cell {
    struct hog_file_key key;
    u64 used;  /* 0: free */
    u64 taker; /* the process that was first */
    u64 count, bytes;
    u64 waited; /* of the count: read from a device or slept */
    char fstype[16];
    char comm[16];                 /* of the thread that created it */
    u64 cgroup, cgroup_v1, parent; /* of the taker's process, as in struct hog_exit_name; 0: unknown */
    u32 uid, uid_known;
    u32 counts[HOG_HISTOGRAM_BUCKETS];
};

enum hog_file_layout { HOG_FILE_CELLS = 2048 };
const volatile enum hog_file_layout file_layout = HOG_FILE_CELLS;
#define CELL_NONE    0              /* the first cell is not used */
#define CELL_IGNORED HOG_FILE_CELLS /* for a process that was not asked for: no such cell exists */

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, HOG_FILE_CELLS);
    __type(key, u32);
    __type(value, struct hog_file_cell);
} hog_file_cells SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, HOG_FILE_CELLS);
    __type(key, struct hog_file_key);
    __type(value, u32);
} hog_file_index SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_QUEUE);
    __uint(max_entries, HOG_FILE_CELLS);
    __uint(key_size, 0);
    __uint(value_size, sizeof(u32));
} hog_file_free SEC(".maps");

#include "lib/prefilter.bpf.h"
TRACKED_MAP;

/* The current call of a thread, in the place that its number leads to; of two threads with one place the
 * later one has it, and the other's call has no time. */
struct hog_file_cached {
    u64 mount; /* address of the kernel's struct; 0: empty */
    u64 bytes;
    u32 via, cell;
    /* Most of the remaining cost of a fast call is reading the clock twice. In a steady stream of equal fast
     * calls, only one in a few is timed, at random, and counts for those that were not. */
    u32 streak;        /* consecutive timed calls that were fast */
    u32 skip, skipped; /* untimed calls: still to come, and so far */
    u32 padding;
};
#define STREAK     32
#define FAST_NS    16384
#define SKIP_LEAST 4 /* and up to 15 more */
#define UNTIMED    1 /* as `since` */
struct hog_file_thread {
    u64 born;                    /* start time of the thread */
    u64 since;                   /* ns; 0: no call */
    u64 from, to;                /* mounts of the files that are read and written; 0: not counted */
    u64 read_bytes, sleeps;      /* of the thread, at the begin */
    u32 via, inner;              /* inner: enum inner, of a nested call */
    u64 fault_since, fault_at;   /* of a fault, which may be nested in a call: ns, 0: counted; its address */
    u64 fault_pages, faults;     /* its mapping or mount; number of faults so far */
    u64 path_mount, path_dentry; /* of the file looked up last, and its mount as above */
    u64 path_is;
    u64 files[2]; /* read and written, with --top-files */
    struct hog_file_cached cached[2];
};

#define HOG_FILE_THREADS 4096
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, HOG_FILE_THREADS);
    __type(key, u32);
    __type(value, struct hog_file_thread);
} hog_file_threads SEC(".maps");

/* Reads and writes without a cell, or whose begin was lost. */
struct hog_file_lost {
    u64 count;
    u64 files; /* of those with a cell, those without an entry by file */
} __attribute__((aligned(64)));
struct hog_file_lost lost = {};

const volatile bool only_tracked, by_mount, all_files, top_files;

static long (*const bpf_map_push_elem)(void *map, const void *value,
                                       u64 flags) = (void *)BPF_FUNC_map_push_elem;
static long (*const bpf_map_pop_elem)(void *map, void *value) = (void *)BPF_FUNC_map_pop_elem;
static long (*const bpf_probe_read_kernel_str)(void *to, u32 size,
                                               const void *from) = (void *)BPF_FUNC_probe_read_kernel_str;

/* ---- cells ---- */

/* A flag of `via`: the address is that of the super block, as the mount that was used is unknown. */
#define OF_SUPER 0x100

static __always_inline struct super_block *super_of(u64 address, u32 via)
{
    return via & OF_SUPER ? (void *)address : kernel_field(false, (struct vfsmount *)address, mnt_sb);
}

/* A struct vfsmount is the part of a struct mount that file systems see. */
static __always_inline void describe_mount(u64 address, u32 via, struct hog_file_key *key)
{
    struct mount *none = NULL;
    struct super_block *super = super_of(address, via);

    if (!(via & OF_SUPER)) {
        struct mount *all = (void *)(address - __builtin_preserve_field_info(none->mnt, 0 /* offset */));
        key->mount = kernel_field(false, all, mnt_id);
    }
    key->device = kernel_field(false, super, s_dev);
}

/* For when the process has exited by the time it is shown. */
static __attribute__((noinline)) int describe_taker(struct hog_file_cell *cell)
{
    struct task_struct *task = (void *)bpf_get_current_task();
    struct task_struct *leader = kernel_field(false, task, group_leader);
    struct cred *cred = kernel_field(false, leader, real_cred);

    cell->uid = kernel_field(false, cred, euid).val;
    cell->uid_known = 1;
    cell->cgroup = group_of(task);
    cell->cgroup_v1 = group_of_v1(leader);
    cell->parent = parent_of(false, leader);
    return 0;
}

static __always_inline void name_cell(struct hog_file_cell *cell, u64 address, u32 via)
{
    struct super_block *super = super_of(address, via);
    struct file_system_type *type = kernel_field(false, super, s_type);

    bpf_probe_read_kernel_str(cell->fstype, sizeof cell->fstype, kernel_field(false, type, name));
    bpf_get_current_comm(cell->comm, sizeof cell->comm);
}

/* A cell for a key that has none. */
static __always_inline u32 take_cell(const struct hog_file_key *key, u64 who, u64 mount, u32 via)
{
    u32 number = CELL_NONE;

    if (bpf_map_pop_elem(&hog_file_free, &number))
        return CELL_NONE;
    struct hog_file_cell *cell = bpf_map_lookup_elem(&hog_file_cells, &number);
    if (!cell)
        return CELL_NONE;
    cell->key = *key;
    cell->taker = who;
    name_cell(cell, mount, via);
    cell->uid_known = 0;
    cell->cgroup = cell->cgroup_v1 = cell->parent = 0;
    if (who == hog_current_key())
        describe_taker(cell);
    if (!bpf_map_update_elem(&hog_file_index, key, &number, BPF_NOEXIST)) {
        cell->used = 1;
        return number;
    }
    /* Another CPU was first, or there is no room. */
    bpf_map_push_elem(&hog_file_free, &number, BPF_ANY);
    u32 *there = bpf_map_lookup_elem(&hog_file_index, key);
    return there ? *there : CELL_NONE;
}

/* who: 0 is `current`. A global function: verified once. */
__attribute__((noinline)) u32 hog_find_cell(u64 mount, u64 bytes, u32 op, u32 via, u64 who)
{
    struct hog_file_key key = {.op = op, .via = via & ~OF_SUPER, .size = is_set(bytes) + log2_of(bytes)};
    if (!who)
        who = hog_current_key();
    u32 process = process_of(who);

    if (only_tracked && !bpf_map_lookup_elem(&hog_tracked, &process))
        return CELL_IGNORED;
    if (!by_mount)
        key.who = who;
    describe_mount(mount, via, &key);
    u32 *cell = bpf_map_lookup_elem(&hog_file_index, &key);
    return cell ? *cell : take_cell(&key, who, mount, via);
}

#endif
