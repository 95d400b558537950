/* SPDX-License-Identifier: GPL-2.0-only */
/* The births of those who are forked, for an object whose keys are made from what helpers say. To be included
 * once. */
#ifndef HOG_BPF_LIB_FORK_HOOKS_H
#define HOG_BPF_LIB_FORK_HOOKS_H

#include "lib/task_key.bpf.h"

const volatile u32 fork_child_pid = 44; /* where the field is, from tracefs */

SEC("tracepoint/sched/sched_process_fork")
int hog_fork_tp(void *ctx)
{
    u32 child = 0;

    bpf_probe_read_kernel(&child, sizeof child, ctx + fork_child_pid);
    note_birth(child);
    return 0;
}

#endif
