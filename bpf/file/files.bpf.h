/* SPDX-License-Identifier: GPL-2.0-only */
/* Single files, with --top-files: what was read from each and written to it, and its name. */
#ifndef HOG_BPF_FILE_FILES_H
#define HOG_BPF_FILE_FILES_H

#include "file/cells.bpf.h"

struct hog_file_id {
    u64 who;   /* 0: all */
    u64 inode; /* its number */
    u32 mount, device;
};

#define PATH_NAMES 10
struct hog_file_name {
    u64 count[2], bytes[2]; /* by enum hog_file_op */
    u64 taker;
    char comm[16];
    u32 depth;      /* number of names; the first is the file's own */
    u32 from_mount; /* the last one is right below the root of its mount */
    char names[PATH_NAMES][40];
};

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 4096);
    __type(key, struct hog_file_id);
    __type(value, struct hog_file_name);
} hog_file_names SEC(".maps");

/* Initial value of an entry: too large for the stack of a program. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct hog_file_name);
} hog_file_blank SEC(".maps");

static __always_inline void take_path(struct hog_file_name *name, struct file *file, struct vfsmount *mount)
{
    struct dentry *entry = kernel_field(false, file, f_path.dentry);
    struct dentry *root = kernel_field(false, mount, mnt_root);

    for (u32 i = 0; i < PATH_NAMES; i++) {
        struct dentry *parent = kernel_field(false, entry, d_parent);
        name->from_mount = entry == root;
        if (entry == root || entry == parent)
            break;
        bpf_probe_read_kernel_str(name->names[i], sizeof name->names[i],
                                  kernel_field(false, entry, d_name.name));
        name->depth = i + 1;
        entry = parent;
        name->from_mount = entry == root;
    }
}

static __attribute__((noinline)) int count_file(u64 mount, u64 address, u32 op, u64 bytes, u64 who)
{
    struct file *file = (void *)address;
    struct inode *inode = kernel_field(false, file, f_inode);
    struct hog_file_key place = {};
    u32 first = 0;

    if (!who)
        who = hog_current_key();
    describe_mount(mount, 0, &place);
    struct hog_file_id id = {
        .who = by_mount ? 0 : who,
        .inode = kernel_field(false, inode, i_ino),
        .mount = place.mount,
        .device = place.device,
    };
    struct hog_file_name *name = bpf_map_lookup_elem(&hog_file_names, &id);
    if (!name) {
        const void *blank = bpf_map_lookup_elem(&hog_file_blank, &first);
        bool first_here = blank && !bpf_map_update_elem(&hog_file_names, &id, blank, BPF_NOEXIST);
        name = bpf_map_lookup_elem(&hog_file_names, &id);
        if (!name) {
            __sync_fetch_and_add(&lost.files, 1);
            return 0;
        }
        if (first_here) {
            name->taker = who;
            bpf_get_current_comm(name->comm, sizeof name->comm);
            take_path(name, file, (void *)mount);
        }
    }
    op &= 1;
    __sync_fetch_and_add(&name->count[op], 1);
    __sync_fetch_and_add(&name->bytes[op], bytes);
    return 0;
}

#endif
