/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What -u, -g and --container leave out, where an event costs much or its place is wanted by others. Rows are
 * chosen by hog, from who a process is at the end of a window; here is left out what is of somebody else when
 * it happens. What is not known is counted.
 */
#ifndef HOG_BPF_LIB_PREFILTER_H
#define HOG_BPF_LIB_PREFILTER_H

#include "lib/task_key.bpf.h"
#include <linux/capability.h>

#define CHOSEN_USERS 16
struct hog_chosen {
    u32 nusers;   /* 0: any user */
    u32 groups;   /* hog_unwanted is filled in */
    u32 inverted; /* those of all users below are left out, not those of no user below */
    u32 users[CHOSEN_USERS];
};
const volatile struct hog_chosen chosen;

/* Control groups of version 2 whose processes are left out. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, 8192);
    __type(key, u64);
    __type(value, u8);
} hog_unwanted SEC(".maps");

static __always_inline bool is_one_of(u32 user)
{
    for (u32 i = 0; i < CHOSEN_USERS; i++) {
        if (i == chosen.nusers)
            break;
        if (chosen.users[i] == user)
            return true;
    }
    return false;
}

static __always_inline bool is_of_users(bool direct, struct task_struct *task)
{
    struct cred *cred = kernel_field(direct, task, real_cred);

    return is_one_of(kernel_field(direct, cred, euid).val);
}

/* A process is of the user and in the group that its first thread is: where `current` differs from that one,
 * it is not left out. */
static __always_inline bool is_unwanted(bool direct, struct task_struct *task)
{
    struct task_struct *leader = kernel_field(direct, task, group_leader);
    bool users = true, groups = true;

    if (chosen.nusers) {
        users = is_of_users(direct, task) == chosen.inverted;
        if (users && task != leader)
            users = is_of_users(direct, leader) == chosen.inverted;
        if (users != chosen.inverted)
            return users;
    }
    if (chosen.groups) {
        u64 group = bpf_get_current_cgroup_id();
        groups = bpf_map_lookup_elem(&hog_unwanted, &group) != NULL;
        if (groups && !keys.by_thread && task != leader)
            groups = kernel_field(direct, task, cgroups) == kernel_field(direct, leader, cgroups);
        return groups;
    }
    return users && chosen.nusers;
}

static __attribute__((noinline)) bool current_is_unwanted(void)
{
    if (HAS_TASK_BTF)
        return is_unwanted(true, bpf_get_current_task_btf());
    return is_unwanted(false, (void *)bpf_get_current_task());
}

/* Of `current`. Without such options, nothing. Not for programs that do without type data. */
static __always_inline bool is_left_out(void)
{
    return (chosen.nusers || chosen.groups) && current_is_unwanted();
}

/* Whether `task` can become of one of the users of -u without an exec: it is, it may take any user's number,
 * or it has kept one of these. */
static __always_inline bool may_be_of_users(struct task_struct *task)
{
    struct cred *cred = kernel_field(false, task, real_cred);

    return kernel_field(false, cred, cap_permitted).bits >> CAP_SETUID & 1 ||
           is_one_of(kernel_field(false, cred, euid).val) || is_one_of(kernel_field(false, cred, uid).val) ||
           is_one_of(kernel_field(false, cred, suid).val);
}

static __attribute__((noinline)) bool current_is_left_out_for_life(void)
{
    struct task_struct *task = (void *)bpf_get_current_task();

    return !may_be_of_users(task) && !may_be_of_users(kernel_field(false, task, group_leader));
}

/* For what is counted from exec to exec. Of --not nothing is sure for that long, nor of groups. */
static __always_inline bool is_left_out_for_life(void)
{
    return chosen.nusers && !chosen.inverted && current_is_left_out_for_life();
}

#endif
