/* SPDX-License-Identifier: GPL-2.0-only */
/* Kernel structs, cut to the fields that programs read; the loader moves each access to where the running
 * kernel has the field. A comment says where releases differ, with the commit that changed it. */
#ifndef HOG_BPF_KERNEL_TASK_H
#define HOG_BPF_KERNEL_TASK_H

#include "kernel/cgroup.bpf.h"
#include "kernel/fs.bpf.h"
#include "kernel/mm.bpf.h"
#include "kernel/sched.bpf.h"
#include "kernel/helpers.bpf.h"

#define COMM       16       /* bytes of task_struct.comm */
#define PF_KTHREAD 0x200000 /* <linux/sched.h>: a kernel thread */

typedef struct {
    int counter;
} atomic_t;

typedef struct {
    u32 val;
} kuid_t;

typedef struct {
    u64 bits;
} capabilities;

struct cred {
    kuid_t uid, suid, euid;
    capabilities cap_permitted; /* bit N: capability N; two words until 6.3, f122a08b197d */
} __relocated;

/* Bytes read from storage and queued to be written to it; CONFIG_TASK_IO_ACCOUNTING. */
struct task_io_accounting {
    u64 read_bytes, write_bytes;
} __relocated;

struct signal_struct {
    atomic_t live;                  /* threads that have not begun to exit */
    int nr_threads;                 /* of the process */
    u64 sum_sched_runtime;          /* ns on CPU of threads that have exited */
    u64 utime, stime;               /* ns of these, in user and kernel mode */
    unsigned long min_flt, maj_flt; /* page faults of these */
    unsigned long maxrss;           /* highest page count, as of the last exec or exit */
    struct task_io_accounting ioac; /* I/O of threads that have exited */
    int group_exit_code;            /* status, once all are told to exit: */
    u32 flags;                      /* SIGNAL_... */
} __relocated;

struct ns_common {
    u32 inum; /* the inode number of /proc/PID/ns/... */
} __relocated;

struct pid_namespace {
    struct ns_common ns;
} __relocated;

struct upid {
    int nr;
    struct pid_namespace *ns;
} __relocated;

struct pid {
    u32 level;              /* of the task's own namespace; 0: the initial one */
    struct upid numbers[1]; /* level + 1 of them; [] from 6.5, b69f0aeb0689 */
} __relocated;

struct thread_info {
    unsigned long flags;
    u32 status; /* x86 */
} __relocated;

struct task_struct {
    struct thread_info thread_info;
    unsigned int flags; /* PF_... */
    int pid, tgid;      /* thread, process */
    u64 start_boottime; /* ns, CLOCK_BOOTTIME; `real_start_time` until 5.5, cf25e24db61c */
    struct task_struct *group_leader;
    struct task_struct *real_parent; /* a thread of the parent process */
    struct pid *thread_pid;
    u64 utime, stime;               /* ns in user and kernel mode: sampled at ticks, or exact */
    unsigned long min_flt, maj_flt; /* page faults */
    unsigned long nvcsw, nivcsw;    /* context switches: of its own will, and others */
    struct files_struct *files;
    struct signal_struct *signal;
    void *sighand; /* NULL: its counts have been added to `signal` */
    struct mm_struct *mm;
    struct task_io_accounting ioac;
    void *bio_list; /* not NULL: inside a block driver's submit_bio, which may submit bios of its own */
    struct cred *real_cred;
    struct css_set *cgroups; /* CONFIG_CGROUPS */
    int exit_code;           /* status as wait(2) gives it, once it exits */
    int prio;                /* 100..139: the fair class */
    unsigned int __state;    /* 0: runnable; `long state` until 5.14, 2f064a59a11f */
    unsigned in_iowait : 1;  /* sleeps in io_schedule() */
    void *robust_list;       /* CONFIG_FUTEX; in `futex` in 7.2 */
    int on_rq;               /* not 0: running, runnable, or (6.12) just went to sleep */
    struct sched_entity se;
    struct sched_info sched_info;
    char comm[COMM];
} __relocated;

/* The ABI of the current system call; CONFIG_THREAD_INFO_IN_TASK. Each architecture has its own fields. */
struct thread_info___abi {
    unsigned long flags; /* arm64: bit 22 (TIF_32BIT): a 32-bit program */
    unsigned int status; /* x86: bit 1 (TS_COMPAT): a 32-bit call */
} __relocated;

struct task_struct___abi {
    struct thread_info___abi thread_info;
} __relocated;

struct task_struct___5_13 {
    long state;
} __relocated;

struct futex_sched_data {
    void *robust_list;
} __relocated;

struct task_struct___7_2 {
    struct futex_sched_data futex;
} __relocated;

/* What a task waits for in D state; CONFIG_DETECT_HUNG_TASK_BLOCKER, from 6.16, 3cffcb46c4ac: the address of
 * a lock, and in the lowest bits its kind. */
struct task_struct___6_16 {
    unsigned long blocker;
} __relocated;

struct task_struct___psi {
    unsigned in_memstall : 1; /* works or waits for memory to be reclaimed or read back; CONFIG_PSI. A bit of
                               * `flags` until 5.7, 1066d1b6974e */
} __relocated;

/* The registers of a task that entered the kernel from user space. Each architecture has its own fields. */
struct pt_regs___kernel {                   /* not the one of <asm/ptrace.h> */
    unsigned long di, si, dx, r10, orig_ax; /* x86_64; orig_ax: the system call, or -1 */
    u64 regs[31], orig_x0;                  /* arm64 */
    s32 syscallno;                          /* arm64: the system call, or -1 */
} __relocated;

/* What a program of an iterator over tasks gets. */
struct bpf_iter_meta {
    struct seq_file *seq;
    u64 session_id; /* of the pass */
};

struct bpf_iter__task {
    struct bpf_iter_meta *meta;
    struct task_struct *task;
};

#endif
