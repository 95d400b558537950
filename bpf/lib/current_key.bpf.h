/* SPDX-License-Identifier: GPL-2.0-only */
/* The key of `current`, for programs that need it rarely. Global functions are verified once, rather than for
 * each way that leads to a call of them; and each pointer that is loaded from a task takes searches of all
 * types of the kernel (6.3, 6fcd486b3a0a): most of the time that such programs take to load. */
#ifndef HOG_BPF_LIB_CURRENT_KEY_H
#define HOG_BPF_LIB_CURRENT_KEY_H

#include "lib/task_key.bpf.h"

__attribute__((noinline)) u64 hog_current_key(void)
{
    struct task_struct *task;

    if (HAS_TASK_BTF) {
        task = bpf_get_current_task_btf();
        return task_key(true, task, task->pid).key;
    }
    task = (void *)bpf_get_current_task();
    return task_key(false, task, kernel_field(false, task, pid)).key;
}

#endif
