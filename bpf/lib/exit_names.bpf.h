/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of exited processes (by thread: threads), which user space cannot find in /proc any more: a table per
 * CPU, written at exit. Of the places that a key may take, it takes one of a window that has been shown
 * already, else the lightest. */
#ifndef HOG_BPF_LIB_EXIT_NAMES_H
#define HOG_BPF_LIB_EXIT_NAMES_H

#include "kernel/task.bpf.h"
#include "lib/cgroup_ids.bpf.h"
#include "lib/sketch.bpf.h"
#include "lib/task_key.bpf.h"

#define EXIT_NAME_WAYS 3
#define HOG_EXIT_NAMES (16 * EXIT_NAME_WAYS) /* names of exited tasks per CPU: 16 buckets */
struct hog_exit_name {
    u64 key;
    u32 weight; /* the flip's low 8 bits << 24 | the weight, saturated */
    u32 uid;
    char comm[COMM]; /* the last byte, where a name always has its zero: 1 for a kernel thread */
    u64 cgroup;      /* id in version 2: the inode number of its directory; 0: unknown */
    u64 cgroup_v1;   /* hierarchy << 48 | id there; 0: unknown */
    u64 parent;      /* key of the parent process; 0: unknown */
};

/* The sketch of an object that counts nothing by it: only its flips and the names of exited tasks are used.
 */
#define EXIT_NAMES_SKETCH(tag)                                                                               \
    struct tag {                                                                                             \
        struct hog_pipe pipe;                                                                                \
        u64 padding[10];                                                                                     \
        struct hog_exit_name exit_names[HOG_EXIT_NAMES];                                                     \
        struct hog_slot slots[PIPE_SLOTS];                                                                   \
    };                                                                                                       \
    struct {                                                                                                 \
        __uint(type, BPF_MAP_TYPE_ARRAY);                                                                    \
        __uint(map_flags, BPF_F_MMAPABLE);                                                                   \
        __uint(max_entries, 1);                                                                              \
        __type(key, u32);                                                                                    \
        __type(value, struct tag);                                                                           \
    } hog_sketch SEC(".maps")

struct exit_name {
    u64 key, cgroup, cgroup_v1, parent;
    u32 uid;
    char comm[COMM];
};

/* In the table of this CPU. User space may read at any moment: the key is written last. */
static __always_inline void exit_name_keep(struct hog_exit_name exit_names[HOG_EXIT_NAMES],
                                           const struct exit_name *who, u64 heavy)
{
    u32 flip = read_once(pipe_flip.flip), epoch = (flip & 0xff) << 24;
    u32 shown_age = flip - read_once(pipe_flip.shown); /* in flips */
    u32 weight = heavy > 0xffffff ? 0xffffff : heavy;
    u32 bucket = (who->key * pipe_multiplier(7)) >> 60;
    struct hog_exit_name *places = &exit_names[bucket * EXIT_NAME_WAYS];
    u64 least = ~0u, which = 0;

    barrier_var(places);
#pragma unroll
    for (u32 i = 0; i < EXIT_NAME_WAYS; i++) {
        u32 old = places[i].weight, age = (flip - (old >> 24)) & 0xff;
        u64 w = choose(is_less(age, shown_age), old & 0xffffff, 0);
        u64 lighter = is_less(w, least);
        least = choose(lighter, w, least);
        which = choose(lighter, i, which);
    }
    if (least > weight)
        return;
    barrier_var(which);
    struct hog_exit_name *lightest = &places[which & 3]; /* for verifiers: it is below EXIT_NAME_WAYS */
    write_once(lightest->key, 0);
    barrier();
    lightest->weight = epoch | weight;
    lightest->uid = who->uid;
    __builtin_memcpy(lightest->comm, who->comm, COMM);
    lightest->cgroup = who->cgroup;
    lightest->cgroup_v1 = who->cgroup_v1;
    lightest->parent = who->parent;
    barrier();
    write_once(lightest->key, who->key);
}

/* The kernel's comm[16], by the two loads that verifiers accept for a typed pointer. */
static __always_inline void copy_comm(bool direct, char comm[COMM], struct task_struct *task)
{
    const u64 *from = (const u64 *)__builtin_preserve_access_index(&task->comm);
    u64 halves[COMM / 8];

    if (direct) {
        halves[0] = from[0];
        halves[1] = from[1];
    } else {
        bpf_probe_read_kernel(halves, sizeof halves, from);
    }
    __builtin_memcpy(comm, halves, COMM);
}

/* Whether this exit ends what its key stands for. For a process it is the exit of its last thread. */
static __always_inline bool exit_ends_key(bool direct, struct signal_struct *signal)
{
    return keys.by_thread || kernel_field(direct, signal, live).counter <= 0;
}

/* `current`, where only helpers describe it. */
static __always_inline void exit_name_describe_current(struct exit_name *exit_name)
{
    *exit_name = (struct exit_name){.key = current_key(), .uid = bpf_get_current_uid_gid()};
    bpf_get_current_comm(exit_name->comm, sizeof exit_name->comm);
}

/* `task` is `current`. A process has the name of its first thread, whichever thread exits last. False: not
 * asked for. */
static __always_inline bool exit_name_describe(bool direct, struct task_struct *task,
                                               struct exit_name *exit_name)
{
    struct cred *cred = kernel_field(direct, task, real_cred);
    struct task_struct *leader = kernel_field(direct, task, group_leader);

    copy_comm(direct, exit_name->comm, keys.by_thread ? task : leader);
    exit_name->comm[COMM - 1] = (kernel_field(direct, task, flags) & PF_KTHREAD) != 0;
    exit_name->uid = kernel_field(direct, cred, euid).val;
    exit_name->cgroup = group_of(task);
    exit_name->cgroup_v1 = group_of_v1(keys.by_thread ? task : leader);
    exit_name->parent = parent_of(direct, leader);
    exit_name->key = task_key_of(direct, task, leader, kernel_field(direct, task, pid)).key;
    return exit_name->key != HOG_KEY_OUTSIDE;
}

#endif
