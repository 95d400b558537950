/* SPDX-License-Identifier: GPL-2.0-only */
/* An iterator over tasks that counts those of one process. */
#include "kernel/helpers.bpf.h"

struct task_struct {
    s32 pid, tgid;
} __relocated;

struct bpf_iter__task {
    void *meta;
    struct task_struct *task;
};

u32 wanted_tgid;
u32 threads;

SEC("iter/task") int on_task(struct bpf_iter__task *ctx)
{
    struct task_struct *task = ctx->task;

    if (task && (u32)task->tgid == wanted_tgid)
        threads++;
    return 0;
}

char LICENSE[] SEC("license") = "GPL";
