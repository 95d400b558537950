/* SPDX-License-Identifier: GPL-2.0-only */
/* The identity of a task: the 64-bit keys of all counts about tasks. */
#ifndef HOG_BPF_LIB_TASK_KEY_H
#define HOG_BPF_LIB_TASK_KEY_H

#include "kernel/task.bpf.h"

/* Process 22 bits, thread 22 bits (0 if processes are counted), birth 20 bits. Birth is the start time in
 * units of 2^23 ns (8.4 ms): a PID that is reused within the 2.4 hours that it spans has another birth. */
enum hog_key_layout {
    HOG_KEY_PROCESS = 42,
    HOG_KEY_THREAD = 20,
    HOG_KEY_BIRTH_NS = 23,
    HOG_KEY_OUTSIDE =
        1, /* not a layout: the one key of all tasks without a pid in the PID namespace asked for */
};
const volatile enum hog_key_layout key_layout = HOG_KEY_PROCESS;

#define BIRTH_MASK ((1u << HOG_KEY_THREAD) - 1)

/* What keys are made of. Zero: processes, by the kernel's own pids. */
struct hog_keys {
    u32 pid_namespace; /* by pids in the PID namespace with this inode number */
    u32 by_thread;
};
const volatile struct hog_keys keys;

/* Births seen, by thread id, for hosts where task_struct cannot be read. */
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, u32);
} hog_births SEC(".maps");

static __always_inline u64 make_key(u32 process, u32 thread, u32 birth)
{
    return (u64)process << HOG_KEY_PROCESS | (u64)thread << HOG_KEY_THREAD | (birth & BIRTH_MASK);
}

static __always_inline u32 process_of(u64 key)
{
    return key >> HOG_KEY_PROCESS;
}

/* A thread's pid in the PID namespace asked for; 0: none. Its struct pid has a number for each namespace
 * around it, from the initial one (level 0) to its own: the one asked for may be any of them, but is usually
 * its own. Verifiers do not accept walking that array by typed pointers. A thread that has been released and
 * is on the CPU for the last time has no struct pid any more. */
#define PID_NAMESPACE_LEVELS 33 /* MAX_PID_NS_LEVEL and the initial one */
static __attribute__((noinline)) u32 number_inside(struct task_struct *task)
{
    struct pid *pid = kernel_field(false, task, thread_pid);
    u32 level = kernel_field(false, pid, level);
    u64 numbers = (u64)__builtin_preserve_access_index(&pid->numbers);

    for (u32 i = 0; i < PID_NAMESPACE_LEVELS && i <= level; i++) {
        struct upid *number = (void *)(numbers + (level - i) * kernel_size(struct upid));
        struct pid_namespace *space = kernel_field(false, number, ns);
        if (kernel_field(false, space, ns.inum) == keys.pid_namespace)
            return kernel_field(false, number, nr);
    }
    return 0;
}

/* The same for the thread (low half) and its process (high half); 0: either has none. */
static __attribute__((noinline)) u64 numbers_inside(struct task_struct *task)
{
    u32 thread = number_inside(task), process = thread;

    if (kernel_field(false, task, pid) != kernel_field(false, task, tgid))
        process = number_inside(kernel_field(false, task, group_leader));
    return thread && process ? (u64)process << 32 | thread : 0;
}

struct task_key {
    u64 key;
    u32 thread; /* in the same namespace as the key; the kernel's own for tasks outside of it */
};

/* `thread`: the kernel's thread id; `leader`: its group_leader. Reads `keys` only once: this runs at every
 * context switch. */
static __always_inline struct task_key task_key_of(bool direct, struct task_struct *task,
                                                   struct task_struct *leader, u32 thread)
{
    u64 made_of = *(const volatile u64 *)&keys;
    u32 process = kernel_field(direct, task, tgid);

    if ((u32)made_of) {
        u64 inside = numbers_inside(task);
        if (!inside)
            return (struct task_key){HOG_KEY_OUTSIDE, thread};
        process = inside >> 32;
        thread = inside;
    }
    /* exec by a thread other than the leader gives it the leader's pid and start time: the key stays. */
    if (made_of >> 32) {
        u64 born = kernel_field(direct, task, start_boottime) >> HOG_KEY_BIRTH_NS;
        return (struct task_key){make_key(process, thread, born), thread};
    }
    u64 birth = kernel_field(direct, leader, start_boottime) >> HOG_KEY_BIRTH_NS;
    return (struct task_key){make_key(process, 0, birth), thread};
}

static __always_inline struct task_key task_key(bool direct, struct task_struct *task, u32 thread)
{
    return task_key_of(direct, task, kernel_field(direct, task, group_leader), thread);
}

/* The parent process of that of `leader`; 0: it has no pid here. */
static __always_inline u64 parent_of(bool direct, struct task_struct *leader)
{
    struct task_struct *parent = kernel_field(direct, leader, real_parent);
    struct task_struct *first = kernel_field(direct, parent, group_leader);
    u64 birth = kernel_field(direct, first, start_boottime) >> HOG_KEY_BIRTH_NS;
    u32 process = keys.pid_namespace ? numbers_inside(parent) >> 32 : kernel_field(direct, parent, tgid);

    return process ? make_key(process, 0, birth) : 0;
}

/* `current` by a typed pointer, if there is a helper for that (5.11), as lockdown=confidentiality forbids
 * bpf_probe_read_kernel. */
enum bpf_func_id___ours { BPF_FUNC_get_current_task_btf___ours = 158 };
#define HAS_TASK_BTF                                                                                         \
    __builtin_preserve_enum_value(*(enum bpf_func_id___ours *)BPF_FUNC_get_current_task_btf___ours,          \
                                  0 /* BPF_ENUMVAL_EXISTS */)

/* Calls f(direct, task, ...) for `current`, by a typed pointer if there is a helper for that (5.11). */
#define for_current(f, ...)                                                                                  \
    do {                                                                                                     \
        if (HAS_TASK_BTF)                                                                                    \
            f(true, bpf_get_current_task_btf(), __VA_ARGS__);                                                \
        else                                                                                                 \
            f(false, (void *)bpf_get_current_task(), __VA_ARGS__);                                           \
    } while (0)

/* Without type data: `current` is the thread that leaves the CPU; of the next one only the thread id is
 * known. */
static __always_inline u64 current_key(void)
{
    u64 both = bpf_get_current_pid_tgid();
    u32 thread = both, process = both >> 32;
    bool threads = keys.by_thread;
    u32 *birth = bpf_map_lookup_elem(&hog_births, threads ? &thread : &process);

    return make_key(process, threads ? thread : 0, birth ? *birth : 0);
}

static __always_inline void note_birth(u32 thread)
{
    u32 birth = (bpf_ktime_get_boot_ns() >> HOG_KEY_BIRTH_NS) & BIRTH_MASK;

    bpf_map_update_elem(&hog_births, &thread, &birth, BPF_ANY);
}

#endif
