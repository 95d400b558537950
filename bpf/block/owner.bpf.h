/* SPDX-License-Identifier: GPL-2.0-only */
/* The owner of a request. It is `current`, except for what kernel threads do on behalf of others: writeback
 * is charged to the process that last dirtied the file, which is found by the inode of the pages. */
#ifndef HOG_BPF_BLOCK_OWNER_H
#define HOG_BPF_BLOCK_OWNER_H

#include "block/block.bpf.h"
#include "kernel/request.bpf.h"
#include "kernel/fs.bpf.h"
#include "lib/bio_inode.bpf.h"

/* Names of processes that own I/O, also after their exit: pages may be written back long after. */
struct hog_io_name {
    u32 uid;
    char comm[COMM]; /* as in struct hog_exit_name */
};
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 2048);
    __type(key, u64);
    __type(value, struct hog_io_name);
} hog_io_names SEC(".maps");

/* The task that last dirtied a clean page of a file. */
struct hog_dirtier {
    u64 inode; /* 0: free */
    u64 task;
    u64 key;
    u32 thread, at; /* at: in units of 2^24 ns */
};
#define DIRTIER_SETS 12 /* log2 */
#define DIRTIER_WAYS 4
struct hog_dirtiers {
    struct hog_dirtier dirtiers[DIRTIER_WAYS << DIRTIER_SETS];
};
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct hog_dirtiers);
} hog_dirtiers SEC(".maps");

const volatile bool can_probe =
    true; /* bpf_probe_read_kernel is allowed: lockdown=confidentiality forbids it */
struct hog_io_modes {
    u32 swaps; /* some disk is used for swap */
    u32 waits; /* for pinned counts: sleeps for I/O are seen */
    u32 padding[14];
} __attribute__((aligned(64)));
struct hog_io_modes io_modes = {};

static __always_inline void keep_name(const struct exit_name *exit_name)
{
    struct hog_io_name name = {.uid = exit_name->uid};

    __builtin_memcpy(name.comm, exit_name->comm, COMM);
    bpf_map_update_elem(&hog_io_names, &exit_name->key, &name, BPF_ANY);
}

/* Of `current`, unless it is already known; at exit the name is updated to the last one. A global function:
 * verified once. By copies, where these are allowed: see EXIT_HOOKS. */
__attribute__((noinline)) int hog_note_name(u64 key)
{
    struct exit_name exit_name;

    if (bpf_map_lookup_elem(&hog_io_names, &key))
        return 0;
    if (HAS_TASK_BTF && !can_probe ? exit_name_describe(true, bpf_get_current_task_btf(), &exit_name)
                                   : exit_name_describe(false, (void *)bpf_get_current_task(), &exit_name))
        keep_name(&exit_name);
    return 0;
}

/* ---- dirty pages ---- */

static __always_inline struct hog_dirtier *dirtier_set(u64 inode)
{
    u32 first = 0;
    struct hog_dirtiers *table = bpf_map_lookup_elem(&hog_dirtiers, &first);

    return table ? &table->dirtiers[((inode * pipe_multiplier(1)) >> (64 - DIRTIER_SETS)) * DIRTIER_WAYS]
                 : NULL;
}

static __always_inline struct hog_dirtier *dirtier_find(u64 inode)
{
    struct hog_dirtier *place = dirtier_set(inode);

    if (!place)
        return NULL;
    barrier_var(place);
#pragma unroll
    for (int i = 0; i < DIRTIER_WAYS; i++, place++)
        if (read_once(place->inode) == inode)
            return place;
    return NULL;
}

/* A place for a file that has none: an unused one, else the oldest one. */
static __attribute__((noinline)) struct hog_dirtier *dirtier_take(u64 inode)
{
    struct hog_dirtier *place = dirtier_set(inode), *oldest = place;
    u64 least = ~0ull;

    if (!place)
        return NULL;
#pragma unroll
    for (int i = 0; i < DIRTIER_WAYS; i++, place++) {
        u64 at = read_once(place->inode) ? read_once(place->at) + 1ull : 0;
        if (at < least) {
            least = at;
            oldest = place;
        }
    }
    write_once(oldest->inode, 0);
    barrier();
    return oldest;
}

/* A bio of dm-crypt has pages of its own: the bio that it was made for is the second word of its struct
 * dm_crypt_io (drivers/md/dm-crypt.c, since 2.6). For other bios that word is arbitrary: the inode found
 * there counts only if it is known. */
static __always_inline struct bio *bio_encrypted(struct bio *bio)
{
    u64 words[2] = {};

    bpf_probe_read_kernel(words, sizeof words, kernel_field(false, bio, bi_private));
    return (void *)words[1];
}

/* ---- owners ---- */

/* The key of the task that dirtied the file that a bio's pages belong to. HOG_IO_WRITEBACK: unknown; 0: they
 * belong to no file. */
static __attribute__((noinline)) u64 dirtied_by(struct bio *bio)
{
    u64 inode = bio_inode(bio);
    struct hog_dirtier *dirtier = inode ? dirtier_find(inode) : NULL;
    u64 who = dirtier ? read_once(dirtier->key) : 0;

    return inode && !who ? HOG_IO_WRITEBACK : who;
}

/* enum req_flag_bits: a release of its own for REQ_SWAP. */
enum req_flag_bits___ours { __REQ_SWAP___ours = 24 };
#define SWAP_BIT                                                                                             \
    __builtin_preserve_enum_value(*(enum req_flag_bits___ours *)__REQ_SWAP___ours, 1 /* BPF_ENUMVAL_VALUE    \
                                                                                      */)
#define HAS_SWAP_BIT                                                                                         \
    __builtin_preserve_enum_value(*(enum req_flag_bits___ours *)__REQ_SWAP___ours, 0 /* BPF_ENUMVAL_EXISTS   \
                                                                                      */)

/* A write of cached pages, or one by a kernel thread. `key`: of `current`. */
static __always_inline u64 writer(bool direct, struct task_struct *task, struct bio *bio, u32 flags, u64 key)
{
    bool kernel = kernel_field(direct, task, flags) & PF_KTHREAD;

    if (HAS_SWAP_BIT && flags & (1u << (SWAP_BIT & 31)))
        return HOG_IO_SWAP;
    if (kernel && is_journal(direct, task))
        return HOG_IO_JOURNAL;
    bool cached = !(flags & REQ_IDLE) && can_probe;
    u64 who = cached ? dirtied_by(bio) : 0;
    if (cached && kernel && !who) {
        who = dirtied_by(bio_encrypted(bio));
        who = who == HOG_IO_WRITEBACK ? 0 : who;
    }
    if (who)
        return who == HOG_IO_WRITEBACK && !kernel ? key : who;
    if (kernel && flags & REQ_META)
        return HOG_IO_JOURNAL;
    return kernel && !can_probe ? HOG_IO_WRITEBACK : key;
}

enum pageflags___ours { PG_swapcache___ours = 10 };
#define SWAPCACHE_BIT                                                                                        \
    __builtin_preserve_enum_value(*(enum pageflags___ours *)PG_swapcache___ours, 1 /* BPF_ENUMVAL_VALUE */)

/* Whether the read brings back memory from a disk used for swap. */
static __always_inline bool is_swap_in(struct bio *bio)
{
    struct page *page = NULL;
    u64 mapping = 0, flags = 0;

    struct bio_vec *vec = kernel_field(false, bio, bi_io_vec);
    bpf_probe_read_kernel(&page, sizeof page, __builtin_preserve_access_index(&vec->bv_page));
    if (!page)
        return false;
    bpf_probe_read_kernel(&flags, sizeof flags, page);
    bpf_probe_read_kernel(&mapping, sizeof mapping, __builtin_preserve_access_index(&page->mapping));
    return flags >> (SWAPCACHE_BIT & 63) & 1 && !mapping; /* not mapped yet */
}

#endif
