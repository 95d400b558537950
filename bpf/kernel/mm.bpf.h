/* SPDX-License-Identifier: GPL-2.0-only */
/* Kernel structs of address spaces and page faults: see task.bpf.h. */
#ifndef HOG_BPF_KERNEL_MM_H
#define HOG_BPF_KERNEL_MM_H

#include "kernel/helpers.bpf.h"

/* Approximate: each CPU also holds a part of its own. */
struct percpu_counter {
    s64 count;
} __relocated;

typedef struct {
    s64 counter;
} atomic_long_t;

struct rw_semaphore {
    atomic_long_t owner; /* the task that holds it, or one of its readers; the lowest three bits are flags */
} __relocated;

struct mutex {
    atomic_long_t owner; /* the same */
} __relocated;

struct mm_struct {
    struct rw_semaphore mmap_lock;         /* mmap_sem until 5.8, da1c55f1b272 */
    struct task_struct *owner;             /* a thread of the process; NULL: it exits; CONFIG_MEMCG */
    unsigned long total_vm;                /* pages mapped */
    unsigned long hiwater_rss, hiwater_vm; /* highest page counts, as of the last time they shrank */
    struct percpu_counter
        rss_stat[4];       /* pages: file, anonymous, swap, shared memory; an array from 6.2, f1a7941243c1 */
    unsigned long exec_vm; /* pages mapped executable */
    unsigned long arg_start, arg_end;
} __relocated;

struct mm_rss_stat {
    atomic_long_t count[4];
} __relocated;

struct mm_struct___6_1 {
    struct mm_rss_stat rss_stat;
} __relocated;

struct vm_operations_struct;

struct file;

struct vm_area_struct {
    const struct vm_operations_struct *vm_ops; /* NULL: anonymous memory */
    struct file *vm_file;
} __relocated;

enum fault_flag { FAULT_FLAG_ANY };

struct vm_fault {
    struct vm_area_struct *vma; /* vma and address are in an unnamed struct from 5.12 on */
    unsigned long address;
    enum fault_flag flags; /* a plain number before 5.14 */
} __relocated;

struct vm_fault___5_13 {
    unsigned int flags;
} __relocated;

/* <linux/mm_types.h>; the values have not changed since 5.1. */
#define VM_FAULT_ERROR   0x873 /* OOM, SIGBUS, HWPOISON, HWPOISON_LARGE, SIGSEGV, FALLBACK */
#define VM_FAULT_MAJOR   0x4
#define VM_FAULT_RETRY   0x400
#define FAULT_FLAG_TRIED 0x20
#define FAULT_FLAG_USER  0x40

#endif
