/* SPDX-License-Identifier: GPL-2.0-only */
/* Kernel structs of sockets: see task.bpf.h. */
#ifndef HOG_BPF_KERNEL_SOCKET_H
#define HOG_BPF_KERNEL_SOCKET_H

#include "kernel/task.bpf.h"

struct sock_common {
    unsigned short skc_family;
} __relocated;

struct sock {
    struct sock_common __sk_common;
    struct pid *sk_peer_pid; /* of a unix socket: the process that connected, or that listens */
} __relocated;

/* The private data of a socket's file. */
struct socket {
    struct sock *sk;
} __relocated;

#endif
