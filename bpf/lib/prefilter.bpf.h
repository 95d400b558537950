/* SPDX-License-Identifier: GPL-2.0-only */
/* What -u, -g, --container and --pod exclude from counting, where an event is expensive or its place is
 * wanted by others. Rows are filtered in user space, by the identity of a process at the end of a window;
 * here events are excluded by the identity at the time. Events whose process is unknown are counted. */
#ifndef HOG_BPF_LIB_PREFILTER_H
#define HOG_BPF_LIB_PREFILTER_H

#include "lib/task_key.bpf.h"
#include <linux/capability.h>

#define PREFILTER_USERS 16
struct hog_prefilter {
    u32 nusers;  /* 0: any user */
    u32 groups;  /* hog_excluded is filled in */
    u32 negated; /* exclude these users instead of all others */
    u32 users[PREFILTER_USERS];
};
const volatile struct hog_prefilter prefilter;

/* Control groups of version 2 whose processes are excluded. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, 8192);
    __type(key, u64);
    __type(value, u8);
} hog_excluded SEC(".maps");

static __always_inline bool is_one_of(u32 user)
{
    for (u32 i = 0; i < PREFILTER_USERS; i++) {
        if (i == prefilter.nusers)
            break;
        if (prefilter.users[i] == user)
            return true;
    }
    return false;
}

static __always_inline bool is_of_users(bool direct, struct task_struct *task)
{
    struct cred *cred = kernel_field(direct, task, real_cred);

    return is_one_of(kernel_field(direct, cred, euid).val);
}

/* A process has the user and the group of its first thread: if `current` differs from that thread, it is not
 * excluded. */
static __always_inline bool is_task_excluded(bool direct, struct task_struct *task)
{
    struct task_struct *leader = kernel_field(direct, task, group_leader);

    if (prefilter.nusers) {
        bool users = is_of_users(direct, task) == prefilter.negated;
        if (users && task != leader)
            users = is_of_users(direct, leader) == prefilter.negated;
        if (users)
            return true;
    }
    if (!prefilter.groups)
        return false;
    u64 group = bpf_get_current_cgroup_id();
    bool groups = bpf_map_lookup_elem(&hog_excluded, &group) != NULL;
    if (groups && !keys.by_thread && task != leader)
        groups = kernel_field(direct, task, cgroups) == kernel_field(direct, leader, cgroups);
    return groups;
}

static __attribute__((noinline)) bool current_is_excluded(void)
{
    if (HAS_TASK_BTF)
        return is_task_excluded(true, bpf_get_current_task_btf());
    return is_task_excluded(false, (void *)bpf_get_current_task());
}

/* Of `current`. False without such options. Not for programs that work without type data. */
static __always_inline bool is_excluded(void)
{
    return (prefilter.nusers || prefilter.groups) && current_is_excluded();
}

/* Whether `task` can become one of the users of -u without an exec: it is one, it may set any user id, or one
 * of them is its real or saved id. */
static __always_inline bool may_be_of_users(struct task_struct *task)
{
    struct cred *cred = kernel_field(false, task, real_cred);

    return kernel_field(false, cred, cap_permitted).bits >> CAP_SETUID & 1 ||
           is_one_of(kernel_field(false, cred, euid).val) || is_one_of(kernel_field(false, cred, uid).val) ||
           is_one_of(kernel_field(false, cred, suid).val);
}

static __attribute__((noinline)) bool current_is_excluded_for_life(void)
{
    struct task_struct *task = (void *)bpf_get_current_task();

    return !may_be_of_users(task) && !may_be_of_users(kernel_field(false, task, group_leader));
}

/* For what is counted from exec to exec. Of users with `!` nothing is certain for that long, nor of groups.
 */
static __always_inline bool is_excluded_for_life(void)
{
    return prefilter.nusers && !prefilter.negated && current_is_excluded_for_life();
}

#endif
