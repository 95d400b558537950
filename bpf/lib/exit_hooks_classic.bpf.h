/* SPDX-License-Identifier: GPL-2.0-only */
/* The program at the exit of a thread by what helpers say. To be included once, after the object's own
 * keep_name(dead, heavy). Whether other threads live on is not known here: the name of any thread that exits
 * serves its process. */
#ifndef HOG_BPF_LIB_EXIT_HOOKS_CLASSIC_H
#define HOG_BPF_LIB_EXIT_HOOKS_CLASSIC_H

SEC("tracepoint/sched/sched_process_exit")
int hog_exit_tp(void *ctx)
{
    struct dead dead;

    dead_describe_current(&dead);
    keep_name(&dead, 0);
    return 0;
}

#endif
