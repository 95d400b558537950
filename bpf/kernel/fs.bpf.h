/* SPDX-License-Identifier: GPL-2.0-only */
/* Kernel structs of files, file systems and mounts: see task.bpf.h. */
#ifndef HOG_BPF_KERNEL_FS_H
#define HOG_BPF_KERNEL_FS_H

#include "kernel/helpers.bpf.h"

struct file_system_type {
    const char *name;
} __relocated;

struct sb_writers {
    unsigned short frozen; /* not 0: writes wait; an int until 6.6 (its low half is read), f0cd988aa0a6 */
} __relocated;

struct super_block {
    u32 s_dev;
    unsigned long s_magic;
    struct sb_writers s_writers;
    struct file_system_type *s_type;
} __relocated;

struct qstr {
    const unsigned char *name;
} __relocated;

struct dentry {
    struct dentry *d_parent; /* itself in a root */
    struct qstr d_name;
} __relocated;

struct vfsmount {
    struct dentry *mnt_root;
    struct super_block *mnt_sb;
} __relocated;

struct mount { /* contains the vfsmount */
    struct vfsmount mnt;
    int mnt_id;
} __relocated;

struct inode {
    unsigned short i_mode;
    unsigned long i_ino;
    struct super_block *i_sb;
} __relocated;

struct address_space {
    struct inode *host; /* the file that the pages belong to */
} __relocated;

struct path {
    struct vfsmount *mnt;
    struct dentry *dentry;
} __relocated;

struct file {
    struct path f_path;
    struct inode *f_inode;
    void *private_data;
} __relocated;

struct kiocb {
    struct file *ki_filp;
} __relocated;

struct io_cqe {
    s32 res;
} __relocated;

struct io_kiocb {
    struct file *file;
    u8 opcode;
    struct io_cqe cqe; /* from 5.19, cef216fc32d7 */
} __relocated;

struct fdtable {
    unsigned int max_fds;
    struct file **fd;
} __relocated;

struct files_struct {
    struct fdtable *fdt;
} __relocated;

#endif
