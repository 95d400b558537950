/* SPDX-License-Identifier: GPL-2.0-only */
/* Kernel structs of epoll: see task.bpf.h. */
#ifndef HOG_BPF_KERNEL_EPOLL_H
#define HOG_BPF_KERNEL_EPOLL_H

#include "kernel/helpers.bpf.h"

struct rb_node {
    struct rb_node *rb_right, *rb_left;
} __relocated;

struct rb_root {
    struct rb_node *rb_node;
} __relocated;

struct rb_root_cached {
    struct rb_root rb_root;
} __relocated;

struct epoll_filefd {
    struct file *file;
} __relocated;

/* A file of a set. */
struct epitem {
    struct rb_node rbn;
    struct epoll_filefd ffd;
} __relocated;

/* An epoll set: the private data of its file. */
struct eventpoll {
    struct rb_root_cached rbr;
} __relocated;

#endif
