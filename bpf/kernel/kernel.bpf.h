/* SPDX-License-Identifier: GPL-2.0-only */
/* The few kernel structs that we read, cut to the fields that we use; the loader moves every access to where
 * the running kernel has the field. A comment tells where releases differ. */
#ifndef HOG_BPF_KERNEL_KERNEL_H
#define HOG_BPF_KERNEL_KERNEL_H

#include "lib/helpers.bpf.h"

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

/* Bytes that were read from and are to be written to storage; CONFIG_TASK_IO_ACCOUNTING. */
struct task_io_accounting {
    u64 read_bytes, write_bytes;
} __relocated;

struct signal_struct {
    atomic_t live;                  /* threads that have not begun to exit */
    u64 sum_sched_runtime;          /* ns on CPU of threads that are gone already */
    unsigned long min_flt, maj_flt; /* their page faults */
    unsigned long maxrss;           /* most pages resident, as of the last exec or its end */
    struct task_io_accounting ioac; /* and their I/O */
} __relocated;

/* Kept near the truth by each CPU's own part, which is not in it. */
struct percpu_counter {
    s64 count;
} __relocated;

struct mm_struct {
    struct task_struct *owner;             /* a thread of whose process it is; NULL: it ends; CONFIG_MEMCG */
    unsigned long total_vm;                /* pages mapped */
    unsigned long hiwater_rss, hiwater_vm; /* most pages ever, as of the last time that they became less */
    struct percpu_counter
        rss_stat[4]; /* pages: file, anonymous, swap, shared memory; an array from 6.2, f1a7941243c1 */
} __relocated;

typedef struct {
    s64 counter;
} atomic_long_t;

struct mm_rss_stat {
    atomic_long_t count[4];
} __relocated;

struct mm_struct___6_1 {
    struct mm_rss_stat rss_stat;
} __relocated;

struct ns_common {
    u32 inum; /* the inode of /proc/PID/ns/... */
} __relocated;

struct pid_namespace {
    struct ns_common ns;
} __relocated;

struct upid {
    int nr;
    struct pid_namespace *ns;
} __relocated;

struct pid {
    u32 level;              /* of the namespace that the task was born into; 0: the first */
    struct upid numbers[1]; /* level + 1 of them; [] from 6.5, b69f0aeb0689 */
} __relocated;

struct rq {
    u64 clock;                /* ns since boot, by the scheduler's clock; as of the latest time it looked */
    u64 clock_task;           /* less what was taken: CONFIG_PARAVIRT_TIME_ACCOUNTING, IRQ_TIME_ACCOUNTING */
    struct task_struct *stop; /* migration/N */
    int cpu;                  /* CONFIG_SMP */
} __relocated;

struct cfs_rq {
    struct rq *rq; /* CONFIG_FAIR_GROUP_SCHED */
    /* ns for which it or a group around it was throttled, while somebody wanted to run; CONFIG_CFS_BANDWIDTH.
     * Self by the clock of the run queue, from 6.6, 677ea015f231; pelt from 5.19, 64eaf50731ac; task before;
     * both without the time of interrupts. */
    u64 throttled_clock_self_time, throttled_clock_pelt_time, throttled_clock_task_time;
    int throttle_count; /* how many of these groups are now; CONFIG_CFS_BANDWIDTH */
} __relocated;

/* How long a task waited for a CPU; CONFIG_SCHED_INFO (by TASK_DELAY_ACCT or SCHEDSTATS). */
struct sched_info {
    unsigned long pcount; /* times that it came on a CPU */
    u64 run_delay;        /* ns waited, as far as told: at its coming, and when it is moved to another CPU */
    u64 last_queued;      /* since when it waits, by the clock of its run queue; 0: it does not */
} __relocated;

struct sched_entity {
    u64 sum_exec_runtime;        /* ns on CPU in its life */
    struct cfs_rq *cfs_rq;       /* of its CPU, in any class; CONFIG_FAIR_GROUP_SCHED */
    u64 prev_sum_exec_runtime;   /* the same when it last came on a CPU; of the fair class alone */
    unsigned char sched_delayed; /* it sleeps, and is on the run queue still; from 6.12, 152e11f6df29 */
} __relocated;

struct vm_operations_struct;

struct file;

struct vm_area_struct {
    const struct vm_operations_struct *vm_ops; /* NULL: anonymous memory */
    struct file *vm_file;
} __relocated;

enum fault_flag { FAULT_FLAG_ANY };

struct vm_fault {
    struct vm_area_struct *vma; /* it and the address in a struct without a name from 5.12 on */
    unsigned long address;
    enum fault_flag flags; /* before 5.14 a number */
} __relocated;

struct vm_fault___5_13 {
    unsigned int flags;
} __relocated;

struct gendisk {
    int major, first_minor; /* of the whole disk */
} __relocated;

struct block_device {
    struct gendisk *bd_disk;
} __relocated;

struct bio_vec;

struct bvec_iter {
    unsigned int bi_size; /* bytes */
} __relocated;

struct bio {
    struct block_device *bi_bdev; /* from 5.12, 309dca309fc3 */
    unsigned int bi_opf;          /* enum req_op in the low 8 bits */
    struct bvec_iter bi_iter;
    void *bi_private;
    struct bio_vec *bi_io_vec;
} __relocated;

struct bio___5_11 {
    struct gendisk *bi_disk;
} __relocated;

struct file_system_type {
    const char *name;
} __relocated;

struct super_block {
    u32 s_dev;
    struct file_system_type *s_type;
} __relocated;

struct qstr {
    const unsigned char *name;
} __relocated;

struct dentry {
    struct dentry *d_parent; /* its own: a root */
    struct qstr d_name;
} __relocated;

struct vfsmount {
    struct dentry *mnt_root;
    struct super_block *mnt_sb;
} __relocated;

struct mount { /* around it */
    struct vfsmount mnt;
    int mnt_id;
} __relocated;

struct inode {
    unsigned short i_mode;
    unsigned long i_ino;
    struct super_block *i_sb;
} __relocated;

struct address_space {
    struct inode *host; /* the file that the pages are of */
} __relocated;

struct path {
    struct vfsmount *mnt;
    struct dentry *dentry;
} __relocated;

struct file {
    struct path f_path;
    struct inode *f_inode;
} __relocated;

struct kiocb {
    struct file *ki_filp;
} __relocated;

struct io_cqe {
    s32 res;
} __relocated;

struct io_kiocb {
    struct file *file;
    u8 opcode;
    struct io_cqe cqe; /* from 5.19, cef216fc32d7 */
} __relocated;

struct fdtable {
    unsigned int max_fds;
    struct file **fd;
} __relocated;

struct files_struct {
    struct fdtable *fdt;
} __relocated;

struct list_head {
    struct list_head *next;
} __relocated;

struct cgroup_root {
    int hierarchy_id; /* the first number of a line of /proc/PID/cgroup */
} __relocated;

struct kernfs_node {
    u64 id; /* the inode of its directory; from 5.5, 67c0496e87d1 */
} __relocated;

struct cgroup {
    struct kernfs_node *kn;
    struct cgroup_root *root;
} __relocated;

/* One of a set's control groups. */
struct cgrp_cset_link {
    struct cgroup *cgrp;
    struct list_head cgrp_link; /* between those of the set, by the age of their hierarchies */
} __relocated;

/* A control group of each hierarchy. */
struct css_set {
    struct list_head cgrp_links;
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
    struct task_struct *real_parent; /* a thread of the process that waits for this one's end */
    struct pid *thread_pid;
    unsigned long min_flt, maj_flt; /* page faults */
    unsigned long nvcsw;            /* times that it left a CPU of its own will */
    struct files_struct *files;
    struct signal_struct *signal;
    void *sighand; /* NULL: its counts are in `signal` */
    struct mm_struct *mm;
    struct task_io_accounting ioac;
    void *bio_list; /* not NULL: a block driver is being given a bio, and may send on what it makes of it */
    struct cred *real_cred;
    struct css_set *cgroups; /* CONFIG_CGROUPS */
    int prio;                /* 100..139: the fair class */
    unsigned int __state;    /* 0: runnable; `long state` until 5.14, 2f064a59a11f */
    unsigned in_iowait : 1;  /* sleeps in io_schedule() */
    void *robust_list;       /* CONFIG_FUTEX; in `futex` in 7.2 */
    int on_rq;               /* not 0: it runs, or could run, or (6.12) went to sleep just now */
    struct sched_entity se;
    struct sched_info sched_info;
    char comm[16];
} __relocated;

/* Which calls of the system the task is just making; CONFIG_THREAD_INFO_IN_TASK. Each kind of machine has its
 * own fields. */
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

struct task_struct___psi {
    unsigned in_memstall : 1; /* works or waits for memory to be freed or read back; CONFIG_PSI. One of
                               * `flags` until 5.7, 1066d1b6974e */
} __relocated;

/* Of a task in user space when it came into the kernel. The fields of both kinds of machine: each has its
 * own. */
struct pt_regs___kernel {                   /* not the one of <asm/ptrace.h> */
    unsigned long di, si, dx, r10, orig_ax; /* x86_64; orig_ax: the system call, or -1 */
    u64 regs[31], orig_x0;                  /* arm64 */
    s32 syscallno;                          /* the same */
} __relocated;

#endif
