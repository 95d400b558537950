// SPDX-License-Identifier: GPL-2.0-only
/* The descendants of a process, even if those in between have exited: from forks, as they happen. Exited ones
 * stay known for some time, so that what they did in their last window can be counted. */
#include "kernel/task.bpf.h"
#include "lib/task_key.bpf.h"

char gpl[] SEC("license") = "GPL";

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 32768);
    __type(key, u64);
    __type(value, u8);
} hog_tree SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 16384);
    __type(key, u64);
    __type(value, u8);
} hog_gone SEC(".maps");

const volatile u32 root; /* the process whose children come first, by pids as in keys */
struct hog_tree_lost {
    u64 lost; /* children without room */
} tree_lost;

static __always_inline void on_fork(bool direct, struct task_struct *parent, struct task_struct *child)
{
    u32 thread = kernel_field(direct, child, pid), process = kernel_field(direct, child, tgid);
    u8 one = 1;

    if (thread != process)
        return;
    struct task_key from = task_key(direct, parent, kernel_field(direct, parent, pid));
    if (process_of(from.key) != root && !bpf_map_lookup_elem(&hog_tree, &from.key))
        return;
    struct task_key who = task_key(direct, child, thread);
    if (bpf_map_update_elem(&hog_tree, &who.key, &one, BPF_ANY))
        __sync_fetch_and_add(&tree_lost.lost, 1);
}

SEC("tp_btf/sched_process_fork")
int hog_tree_fork_btf(void *ctx)
{
    on_fork(true, argument(ctx, 0, struct task_struct *), argument(ctx, 1, struct task_struct *));
    return 0;
}

SEC("raw_tp/sched_process_fork")
int hog_tree_fork_raw(void *ctx)
{
    on_fork(false, argument(ctx, 0, struct task_struct *), argument(ctx, 1, struct task_struct *));
    return 0;
}

static __always_inline void on_exit(bool direct, struct task_struct *task)
{
    struct signal_struct *signal = kernel_field(direct, task, signal);
    u8 one = 1;

    if (kernel_field(direct, signal, live).counter > 0)
        return;
    struct task_key who = task_key(direct, task, kernel_field(direct, task, pid));
    if (!bpf_map_lookup_elem(&hog_tree, &who.key))
        return;
    bpf_map_update_elem(&hog_gone, &who.key, &one, BPF_ANY);
    bpf_map_delete_elem(&hog_tree, &who.key);
}

SEC("tp_btf/sched_process_exit")
int hog_tree_exit_btf(void *ctx)
{
    on_exit(true, argument(ctx, 0, struct task_struct *));
    return 0;
}

SEC("raw_tp/sched_process_exit")
int hog_tree_exit_raw(void *ctx)
{
    on_exit(false, argument(ctx, 0, struct task_struct *));
    return 0;
}
