/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A server process that has a client and does not listen to it: it waits for an event within its own service.
 *
 * Such a process has one thread, which sleeps without a timeout in an epoll set that has no socket, while
 * another epoll set of the process has one. PostgreSQL waits for locks of its tables like that, in every
 * session that another one keeps waiting. An idle session sleeps in the set that has the socket. Programs of
 * several threads are left out: there, a thread without sockets may just have no work.
 */
#ifndef HOG_BPF_TASKS_APART_H
#define HOG_BPF_TASKS_APART_H

#include "kernel/epoll.bpf.h"
#include "kernel/fs.bpf.h"
#include "kernel/task.bpf.h"

#define SETS_LOOKED_AT 16   /* descriptors from 0 on */
#define MOST_LOOKS     1000 /* in a pass over all tasks: half a millisecond */

#define MODE_KIND   0170000
#define MODE_SOCKET 0140000

enum epoll_sockets { EPOLL_HAS_NONE, EPOLL_HAS_SOME, EPOLL_UNKNOWN };

/* Its item in the set; the node is the first of its members, of which the compiler must not be sure. */
static __always_inline struct epitem *item_of(struct rb_node *node)
{
    return (void *)node - __builtin_preserve_field_info(((struct epitem *)NULL)->rbn, 0 /* offset */);
}

static __always_inline bool is_socket(struct rb_node *node)
{
    struct file *file = kernel_field(false, item_of(node), ffd.file);
    struct inode *inode = kernel_field(false, file, f_inode);

    return (kernel_field(false, inode, i_mode) & MODE_KIND) == MODE_SOCKET;
}

/* Of the first two levels of its tree, seven files; a set with more of them is unknown unless one of these is
 * a socket. A global function: verified once. */
__attribute__((noinline)) int hog_epoll_sockets(u64 set)
{
    struct eventpoll *ep = (void *)set;
    struct rb_node *level[7] = {kernel_field(false, ep, rbr.rb_root.rb_node)};

#pragma unroll
    for (int i = 0; i < 7; i++) {
        struct rb_node *left = NULL, *right = NULL;
        if (!level[i])
            continue;
        if (is_socket(level[i]))
            return EPOLL_HAS_SOME;
        left = kernel_field(false, level[i], rb_left);
        right = kernel_field(false, level[i], rb_right);
        if (i < 3) {
            level[2 * i + 1] = left;
            level[2 * i + 2] = right;
        } else if (left || right) {
            return EPOLL_UNKNOWN;
        }
    }
    return EPOLL_HAS_NONE;
}

/* The same for a descriptor of a table of files; EPOLL_UNKNOWN: it is no epoll set. */
__attribute__((noinline)) int hog_sockets_at(u64 files, u64 fd)
{
    u64 name = 0;
    struct file *file = NULL;

    bpf_probe_read_kernel(&file, sizeof file, (struct file **)files + fd);
    if (!file)
        return EPOLL_UNKNOWN;
    struct dentry *dentry = kernel_field(false, file, f_path.dentry);
    bpf_probe_read_kernel(&name, sizeof name, kernel_field(false, dentry, d_name.name));
    if (name != 0x6f70746e6576655bull) /* "[eventpo" */
        return EPOLL_UNKNOWN;
    return hog_epoll_sockets((u64)kernel_field(false, file, private_data));
}

/* fd: the epoll set in which it sleeps without a timeout. */
static __always_inline bool is_apart(struct task_struct *task, u64 fd)
{
    struct files_struct *table = kernel_field(false, task, files);
    struct fdtable *fdt = kernel_field(false, table, fdt);
    u32 most = kernel_field(false, fdt, max_fds);
    u64 files = (u64)kernel_field(false, fdt, fd);

    if (fd >= most || !kernel_has((struct eventpoll *)NULL, rbr) ||
        hog_sockets_at(files, fd) != EPOLL_HAS_NONE)
        return false;
    for (u32 i = 0; i < SETS_LOOKED_AT && i < most; i++)
        if (hog_sockets_at(files, i) == EPOLL_HAS_SOME)
            return true;
    return false;
}

#endif
