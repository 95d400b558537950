/* SPDX-License-Identifier: GPL-2.0-only */
/* Names for the reader, who cannot ask /proc for the dead: a table a CPU, written when a process (by thread:
 * a thread) exits. Of each key's places the one of a turn that was shown already or the lightest is
 * taken. */
#ifndef HOG_BPF_LIB_EXIT_NAMES_H
#define HOG_BPF_LIB_EXIT_NAMES_H

#include "kernel/task.bpf.h"
#include "lib/cgroup_ids.bpf.h"
#include "lib/sketch.bpf.h"
#include "lib/task_key.bpf.h"

#define DEAD_PLACES 3
#define HOG_DEAD    (16 * DEAD_PLACES) /* names of the dead a CPU: 16 buckets */
struct hog_dead {
    u64 key;
    u32 weight; /* the turn's low 8 bits << 24, then what it was heavy by, saturated */
    u32 uid;
    char comm[COMM]; /* its last byte, where a name always has its zero: 1 of a kernel thread */
    u64 cgroup;      /* id in version 2, which is its directory's inode; 0: not known */
    u64 cgroup_v1;   /* its hierarchy << 48 | its id there; 0: not known */
    u64 parent;      /* key of that process; 0: not known */
};

struct dead {
    u64 key, cgroup, cgroup_v1, parent;
    u32 uid;
    char comm[COMM];
};

/* On the CPU that `dead` is of. The reader reads while we write: the key goes in last. */
static __always_inline void dead_keep(struct hog_dead dead[HOG_DEAD], const struct dead *who, u64 heavy)
{
    u32 turn = read_once(pipe_turn.turn), epoch = (turn & 0xff) << 24;
    u32 shown_age = turn - read_once(pipe_turn.shown); /* in turns */
    u32 weight = heavy > 0xffffff ? 0xffffff : heavy;
    u32 bucket = (who->key * pipe_multiplier(7)) >> 60;
    struct hog_dead *places = &dead[bucket * DEAD_PLACES];
    u64 least = ~0u, which = 0;

    barrier_var(places);
#pragma unroll
    for (u32 i = 0; i < DEAD_PLACES; i++) {
        u32 old = places[i].weight, age = (turn - (old >> 24)) & 0xff;
        u64 w = choose(is_less(age, shown_age), old & 0xffffff, 0);
        u64 lighter = is_less(w, least);
        least = choose(lighter, w, least);
        which = choose(lighter, i, which);
    }
    if (least > weight)
        return;
    barrier_var(which);
    struct hog_dead *lightest = &places[which & 3]; /* for verifiers: it is below DEAD_PLACES */
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

/* The kernel's comm[16], in the two loads that verifiers let through for a pointer whose type they know. */
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

/* Is this exit the end of what keys stand for? Of a process the last thread's is. */
static __always_inline bool dead_is(bool direct, struct signal_struct *signal)
{
    return keys.by_thread || kernel_field(direct, signal, live).counter <= 0;
}

/* Where only the helpers tell who `current` is. */
static __always_inline void dead_describe_current(struct dead *dead)
{
    *dead = (struct dead){.key = current_key(), .uid = bpf_get_current_uid_gid()};
    bpf_get_current_comm(dead->comm, sizeof dead->comm);
}

/* `task` is `current`. A process is called what its first thread is called, whichever of them dies last.
 * False: nobody asks for it. */
static __always_inline bool dead_describe(bool direct, struct task_struct *task, struct dead *dead)
{
    struct cred *cred = kernel_field(direct, task, real_cred);
    struct task_struct *leader = kernel_field(direct, task, group_leader);

    copy_comm(direct, dead->comm, keys.by_thread ? task : leader);
    dead->comm[COMM - 1] = (kernel_field(direct, task, flags) & PF_KTHREAD) != 0;
    dead->uid = kernel_field(direct, cred, euid).val;
    dead->cgroup = group_of(task);
    dead->cgroup_v1 = group_of_v1(keys.by_thread ? task : leader);
    dead->parent = parent_of(direct, leader);
    dead->key = who_of(direct, task, leader, kernel_field(direct, task, pid)).key;
    return dead->key != HOG_KEY_OUTSIDE;
}

#endif
