/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs at fork and exit that several objects have: macros that define them. */
#ifndef HOG_BPF_LIB_TASK_HOOKS_H
#define HOG_BPF_LIB_TASK_HOOKS_H

#include "lib/exit_names.bpf.h"
#include "lib/task_key.bpf.h"

/* hog_exit_btf, hog_exit_raw: call on_exit(direct, task) when a task exits. `direct` is always false, though
 * tp_btf allows direct loads: an exit can afford a few copies, and each pointer that is loaded from a task
 * costs half a millisecond at start (from 6.3 on the verifier searches all types for each). */
#define EXIT_HOOKS(on_exit)                                                                                  \
    SEC("tp_btf/sched_process_exit")                                                                         \
    int hog_exit_btf(void *ctx)                                                                              \
    {                                                                                                        \
        on_exit(false, argument(ctx, 0, struct task_struct *));                                              \
        return 0;                                                                                            \
    }                                                                                                        \
    SEC("raw_tp/sched_process_exit")                                                                         \
    int hog_exit_raw(void *ctx)                                                                              \
    {                                                                                                        \
        on_exit(false, argument(ctx, 0, struct task_struct *));                                              \
        return 0;                                                                                            \
    }

/* hog_exit_tp: calls keep_name(name, heavy) when a thread exits, with what helpers say about it. Whether
 * other threads of the process live on is unknown here: the name of any thread that exits serves its process.
 */
#define EXIT_HOOK_CLASSIC(keep_name)                                                                         \
    SEC("tracepoint/sched/sched_process_exit")                                                               \
    int hog_exit_tp(void *ctx)                                                                               \
    {                                                                                                        \
        struct exit_name exit_name;                                                                          \
                                                                                                             \
        exit_name_describe_current(&exit_name);                                                              \
        keep_name(&exit_name, 0);                                                                            \
        return 0;                                                                                            \
    }

/* hog_fork_tp: records the birth of forked tasks, for objects whose keys are made from what helpers say. User
 * space sets fork_child_pid, the offset of the field, from tracefs. */
#define FORK_HOOK                                                                                            \
    const volatile u32 fork_child_pid = 44;                                                                  \
    SEC("tracepoint/sched/sched_process_fork")                                                               \
    int hog_fork_tp(void *ctx)                                                                               \
    {                                                                                                        \
        u32 child = 0;                                                                                       \
                                                                                                             \
        bpf_probe_read_kernel(&child, sizeof child, ctx + fork_child_pid);                                   \
        note_birth(child);                                                                                   \
        return 0;                                                                                            \
    }

#endif
