/* SPDX-License-Identifier: GPL-2.0-only */
/* The programs at the exit of a task, by its pointer. To be included once, after the object's own
 * on_exit(direct, task). Never direct, though tp_btf allows it: an exit can bear a few copies, and each
 * pointer that is loaded from a task costs the start half a millisecond (from 6.3 on the verifier looks
 * through all types for each). */
#ifndef HOG_BPF_LIB_EXIT_HOOKS_H
#define HOG_BPF_LIB_EXIT_HOOKS_H

SEC("tp_btf/sched_process_exit")
int hog_exit_btf(void *ctx)
{
    on_exit(false, argument(ctx, 0, struct task_struct *));
    return 0;
}

SEC("raw_tp/sched_process_exit")
int hog_exit_raw(void *ctx)
{
    on_exit(false, argument(ctx, 0, struct task_struct *));
    return 0;
}

#endif
