/* SPDX-License-Identifier: GPL-2.0-only */
/* The programs at the exit of a task, by its pointer. To be included once, after the object's own
 * on_exit(direct, task). */
#ifndef HOG_EXITS_BPF_H
#define HOG_EXITS_BPF_H

SEC("tp_btf/sched_process_exit")
int hog_exit_btf(void *ctx)
{
    on_exit(true, argument(ctx, 0, struct task_struct *));
    return 0;
}

SEC("raw_tp/sched_process_exit")
int hog_exit_raw(void *ctx)
{
    on_exit(false, argument(ctx, 0, struct task_struct *));
    return 0;
}

#endif
