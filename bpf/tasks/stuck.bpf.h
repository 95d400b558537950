/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tasks that sleep for something that should answer, but may not: each in D state, and each in a system call
 * or a fault in which no task idles, as a second record of the snapshot. User space finds out what each waits
 * for, and takes those that are known not to idle.
 *
 * A call of a file system on FUSE sleeps as if it could idle, so the system call decides, and the file behind
 * its descriptor. A reader of a pipe or a socket idles, unless the other end is stopped: readers are reported
 * only while some task is stopped.
 */
#ifndef HOG_BPF_TASKS_STUCK_H
#define HOG_BPF_TASKS_STUCK_H

#include "kernel/fs.bpf.h"
#include "kernel/socket.bpf.h"
#include "lib/cast.bpf.h"
#include "lib/task_key.bpf.h"
#include "tasks/apart.bpf.h"
#include "tasks/calls.bpf.h"

enum hog_stuck_flags {
    HOG_STUCK_STOPPED = 1,    /* by a signal or a debugger; no more is known of it */
    HOG_STUCK_DEEP = 2,       /* in D state */
    HOG_STUCK_DISK = 4,       /* the kernel says that it waits for I/O */
    HOG_STUCK_FROZEN = 8,     /* the file system of its file is frozen */
    HOG_STUCK_MMAP_LOCK = 16, /* waits for the lock of its address space */
    HOG_STUCK_APART = 32,     /* has a client, and waits for something else: see tasks/apart.bpf.h */
    HOG_STUCK_KERNEL = 64,    /* a kernel thread */
};
const volatile enum hog_stuck_flags stuck_layout = HOG_STUCK_STOPPED;

/* As long as a struct hog_task, and told from it by its flags. */
struct hog_stuck {
    u64 key;
    u64 thread;   /* thread id and start time */
    u64 switches; /* the same in the next snapshot: the same sleep */
    u64 since;    /* by the clock of the run queue of `cpu` */
    u64 inode;    /* of the file behind the descriptor; 0: none */
    u64 magic;    /* of its file system */
    u64 owner;    /* process that holds the lock, a key without a birth; 0: not known */
    u64 padding[10];
    u32 device; /* of the file: major << 20 | minor */
    u32 mode;   /* of the file: its type and permissions */
    u32 call;   /* enum hog_call */
    u32 peer;   /* PID of the other end of a unix socket; 0: not known */
    u32 cpu;
    u32 why; /* enum hog_stuck_flags */
    u32 none;
    u32 flags; /* HOG_TASK_STUCK */
};
struct hog_stuck *unused_stuck;

#define INTERRUPTIBLE              1
#define UNINTERRUPTIBLE            2
#define STOPPED                    (4 | 8) /* by a signal, by a debugger */
#define NOT_LOADING                0x400   /* TASK_NOLOAD: a kernel thread that idles */
#define FREEZING                   0x8000  /* TASK_FROZEN, from 6.1: by a cgroup or for suspend */
#define MODE_PIPE                  0010000
#define MODE_DEVICE                0020000
#define SETS_LOCK_WAITING(command) ((command) == 7 || (command) == 38) /* F_SETLKW, F_OFD_SETLKW */
#define FAMILY_UNIX                1

struct hog_stuck_modes {
    u32 readers; /* set by user space once a task was found stopped */
    u32 looks;   /* of is_apart() in this pass */
    u64 pass;
    u64 task; /* the one that is looked at, as a number */
    u64 padding[5];
    struct hog_stuck record; /* of it */
} __attribute__((aligned(64)));
/* The functions below are global, so that each is verified once: they have their task and their record here.
 */
struct hog_stuck_modes stuck_modes = {};

/* How a task entered the kernel: see sched/blocked_time.bpf.h. */
struct entered {
    u64 call, first, second, fourth;
};

static __always_inline struct entered entered_by(struct task_struct *task)
{
    struct pt_regs___kernel *regs = bpf_task_pt_regs(task);

#ifdef __TARGET_ARCH_x86
    return (struct entered){regs->orig_ax, regs->di, regs->si, regs->r10};
#else
    return (struct entered){(u64)(s64)regs->syscallno, regs->orig_x0, regs->regs[1], regs->regs[3]};
#endif
}

static __always_inline bool entered_known(void)
{
    return __builtin_preserve_enum_value(*(enum bpf_func_id *)BPF_FUNC_task_pt_regs, 0 /* exists */);
}

static __always_inline u32 state_at(struct task_struct *task)
{
    struct task_struct___5_13 *old = (void *)task;

    return kernel_has(task, __state) ? task->__state : old->state;
}

static __always_inline u32 kind_of_call(const struct entered *by)
{
    if (by->call == ~0ull)
        return HOG_CALL_FAULT;
    u32 kind = by->call < CALL_NUMBERS ? call_kinds[by->call & (CALL_NUMBERS - 1)] : HOG_CALL_OTHER;
    if (kind == HOG_CALL_LOCK && by->call == CALL_FCNTL && !SETS_LOCK_WAITING((u32)by->second))
        return HOG_CALL_OTHER;
    return kind;
}

/* ---- what it waits for ---- */

static __always_inline u32 peer_of(struct file *file)
{
    struct socket *socket = kernel_field(false, file, private_data);
    struct sock *sk = kernel_field(false, socket, sk);

    if (keys.pid_namespace || kernel_field(false, sk, __sk_common.skc_family) != FAMILY_UNIX)
        return 0;
    struct pid *peer = kernel_field(false, sk, sk_peer_pid);
    return peer ? kernel_field(false, peer, numbers[0].nr) : 0;
}

/* Fills in the file behind a descriptor. */
__attribute__((noinline)) int hog_look_at_file(u64 descriptor)
{
    struct task_struct *task = (void *)stuck_modes.task;
    struct hog_stuck *stuck = &stuck_modes.record;
    struct files_struct *table = kernel_field(false, task, files);
    struct fdtable *fdt = kernel_field(false, table, fdt);
    struct file *file = NULL;

    if (!table || descriptor >= kernel_field(false, fdt, max_fds))
        return 0;
    bpf_probe_read_kernel(&file, sizeof file, kernel_field(false, fdt, fd) + descriptor);
    if (!file)
        return 0;
    struct inode *inode = kernel_field(false, file, f_inode);
    struct super_block *super = kernel_field(false, inode, i_sb);
    stuck->inode = kernel_field(false, inode, i_ino);
    stuck->mode = kernel_field(false, inode, i_mode);
    stuck->device = kernel_field(false, super, s_dev);
    stuck->magic = kernel_field(false, super, s_magic);
    if (kernel_field(false, super, s_writers.frozen))
        stuck->why |= HOG_STUCK_FROZEN;
    if ((stuck->mode & MODE_KIND) == MODE_SOCKET)
        stuck->peer = peer_of(file);
    return 0;
}

/* The process, as a key without a birth, of the task that a lock's `owner` names; 0: not known. */
static __always_inline u64 owner_key(u64 owner)
{
    struct task_struct *task = (void *)(owner & ~7ull);

    return task && !keys.pid_namespace ? make_key(kernel_field(false, task, tgid), 0, 0) : 0;
}

/* Fills in which lock it waits for in D state, and which task has that. */
__attribute__((noinline)) int hog_look_at_lock(u64 call)
{
    struct task_struct *task = (void *)stuck_modes.task;
    struct task_struct___6_16 *newer = (void *)task;
    struct hog_stuck *stuck = &stuck_modes.record;
    struct mm_struct *mm = kernel_field(false, task, mm);
    u64 lock = 0, owner = 0;

    if (kernel_has(newer, blocker))
        lock = kernel_field(false, newer, blocker);
    if (kernel_has(mm, mmap_lock) && mm) {
        u64 address = (u64)__builtin_preserve_access_index(&mm->mmap_lock);
        bool calls = call == HOG_CALL_MEMORY || call == HOG_CALL_FAULT;
        if ((lock & ~3ull) == address || (calls && !kernel_has(newer, blocker))) {
            stuck->why |= HOG_STUCK_MMAP_LOCK;
            owner = kernel_field(false, mm, mmap_lock.owner.counter);
        }
    }
    if (!owner && lock && !(lock & 3)) {
        struct mutex *mutex = (void *)lock;
        owner = kernel_field(false, mutex, owner.counter);
    } else if (!owner && lock & 2) {
        struct rw_semaphore *semaphore = (void *)(lock & ~3ull);
        owner = kernel_field(false, semaphore, owner.counter);
    }
    stuck->owner = owner_key(owner);
    return 0;
}

/* Whether a task that sleeps without a timeout in an epoll set is_apart(). */
__attribute__((noinline)) int hog_looks_apart(u64 set, u64 pass)
{
    struct task_struct *task = (void *)stuck_modes.task;
    struct signal_struct *signal = kernel_field(false, task, signal);

    if (kernel_field(false, signal, nr_threads) != 1)
        return 0;
    if (stuck_modes.pass != pass) {
        stuck_modes.pass = pass;
        stuck_modes.looks = 0;
    }
    if (stuck_modes.looks >= MOST_LOOKS)
        return 0;
    stuck_modes.looks++;
    return is_apart(task, set);
}

/* Whether a sleep in this call is worth a record, whose file is filled in. */
static __always_inline bool may_be_stuck(struct hog_stuck *stuck, const struct entered *by, u64 pass)
{
    bool deep = stuck->why & HOG_STUCK_DEEP;
    u32 call = stuck->call;

    if (call == HOG_CALL_EPOLL && (s32)by->fourth == -1 && hog_looks_apart(by->first, pass)) {
        stuck->why |= HOG_STUCK_APART;
        return true;
    }
    if (call == HOG_CALL_PATH || call == HOG_CALL_FAULT)
        return true;
    if (call < HOG_CALL_FILE || call > HOG_CALL_LOCK)
        return deep;
    hog_look_at_file(by->first);
    u32 kind = stuck->mode & MODE_KIND;
    if (deep || call == HOG_CALL_FILE || call == HOG_CALL_LOCK)
        return true;
    if (!kind || kind == MODE_DEVICE) /* an eventfd, a terminal */
        return false;
    return call == HOG_CALL_WRITE || stuck_modes.readers || (kind != MODE_PIPE && kind != MODE_SOCKET);
}

/* Reports a task that may be stuck. `thread`, `flag`: as in its first record. */
static __always_inline void report_stuck(struct bpf_iter__task *ctx, struct task_struct *task, u64 key,
                                         u64 thread, u32 flag, bool kernel)
{
    u32 state = state_at(task);
    bool deep = state & UNINTERRUPTIBLE;
    struct hog_stuck *stuck = &stuck_modes.record;

    if (!(state & (INTERRUPTIBLE | UNINTERRUPTIBLE | STOPPED)) || state & (NOT_LOADING | FREEZING) ||
        (kernel && !deep))
        return;
    __builtin_memset(stuck, 0, sizeof *stuck);
    stuck->key = key;
    stuck->thread = thread;
    stuck->flags = flag;
    if (state & STOPPED) {
        stuck->why = HOG_STUCK_STOPPED;
        bpf_seq_write(ctx->meta->seq, stuck, sizeof *stuck);
        return;
    }
    stuck->why = (deep ? HOG_STUCK_DEEP : 0) | (kernel ? HOG_STUCK_KERNEL : 0) |
                 (kernel_bit(true, task, in_iowait) ? HOG_STUCK_DISK : 0);
    stuck_modes.task = (u64)task;
    if (entered_known() && !kernel) {
        struct entered by = entered_by(task);
        stuck->call = kind_of_call(&by);
        if (!may_be_stuck(stuck, &by, ctx->meta->session_id))
            return;
    } else if (!deep) {
        return;
    }
    if (deep)
        hog_look_at_lock(stuck->call);
    stuck->switches = task->nvcsw + task->nivcsw;
    stuck->since = task->sched_info.last_arrival + task->se.sum_exec_runtime - task->se.prev_sum_exec_runtime;
    struct cfs_rq *cfs_rq = cast_task(task)->se.cfs_rq;
    stuck->cpu = kernel_has((struct rq *)NULL, cpu) ? cfs_rq->rq->cpu : 0;
    bpf_seq_write(ctx->meta->seq, stuck, sizeof *stuck);
}

#endif
