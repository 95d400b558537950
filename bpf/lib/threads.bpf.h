/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads by id and name for maps that programs other than hog read: keys and values are plain fields. */
#ifndef HOG_BPF_LIB_THREADS_H
#define HOG_BPF_LIB_THREADS_H

#include "kernel/task.bpf.h"

struct hog_thread {
    u32 pid, tid; /* the kernel's own numbers */
    u64 born_ns;  /* ns since boot, including suspend */
};

struct hog_thread_name {
    u64 process_born_ns; /* of its process */
    u32 uid;             /* effective */
    u32 kernel;          /* 1: a kernel thread */
    char comm[COMM];
};

/* Per CPU. */
struct hog_exits {
    u64 exits; /* threads moved to hog_exited */
    u64 lost;  /* what found no room */
};

static __always_inline void thread_name(bool direct, struct hog_thread_name *name, struct task_struct *task,
                                        struct task_struct *leader, struct cred *cred)
{
    const u64 *comm = (const u64 *)__builtin_preserve_access_index(&task->comm);
    u64 *to = (u64 *)name->comm;

    name->process_born_ns = kernel_field(direct, leader, start_boottime);
    name->uid = kernel_field(direct, cred, euid).val;
    name->kernel = (kernel_field(direct, task, flags) & PF_KTHREAD) != 0;
    /* By the two loads that verifiers accept for a typed pointer. */
    if (direct) {
        to[0] = comm[0];
        to[1] = comm[1];
    } else {
        bpf_probe_read_kernel(to, COMM, comm);
    }
}

#endif
