/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a task that leaves a CPU to sleep waits for, unless it idles: I/O, memory, or a lock.
 *
 * The task itself shows it: at the switch the kernel has marked tasks that wait for I/O (in_iowait) or for
 * reclaimed memory (in_memstall), and at the far end of the stack are the registers with which it entered
 * the kernel: which system call, with which arguments, or none, which means a page fault.
 */
#ifndef HOG_BPF_SCHED_BLOCKED_TIME_H
#define HOG_BPF_SCHED_BLOCKED_TIME_H

#include "kernel/task.bpf.h"
#include "lib/cast.bpf.h"

/* What it sleeps on. The values are also keys of aggressors that are no process, in addition to enum
 * hog_aggressor. */
enum hog_sleeps_on {
    HOG_ON_NOTHING = 0,
    HOG_ON_IO = 7,
    HOG_ON_MEMORY,
    HOG_ON_LOCK,
    HOG_ON_TIMED, /* likely a lock that is asked for again and again, a short time each: see is_shared() */
    HOG_ON_MMAP,  /* the lock of its address space */
    HOG_ON_SYNC,  /* I/O, in fsync(2) and the like */
    HOG_ON_LOCK_IF_SHORT, /* like a task that waits for its next piece of work; threads that hand over to each
                             other are recognized by a short sleep: handoff_ns */
    HOG_ON_LOCK_OR_SIGNAL, /* most likely a lock, unless it lasts a thousand times as long */
};
const volatile enum hog_sleeps_on sleeps_layout = HOG_ON_NOTHING;

/* A sleep, in the place that the task's number leads to. Of two tasks that share a place the first is kept:
 * otherwise long sleeps would be lost among many short ones. */
struct hog_sleep {
    u64 task, at, run_delay; /* `at` by the clock of the run queue that it left */
    u32 pcount;              /* identifies the sleep: times that the task had got a CPU */
    u32 cpu;
    u32 on;     /* enum hog_sleeps_on; HOG_ON_NOTHING: it has ended */
    u32 holder; /* thread that has the lock, as the futex says; 0: not known */
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 4096);
    __type(key, u32);
    __type(value, struct hog_sleep);
} hog_sleeps SEC(".maps");

/* Futexes on which threads wait with a timeout, in the place that process and address lead to. */
struct hog_futex {
    u64 id;     /* of process and address */
    u32 thread; /* that waited last */
    u32 shared; /* when another thread than the one before waited, in units of 2^20 ns; 0: never */
};
#define FUTEXES 256

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, FUTEXES);
    __type(key, u32);
    __type(value, struct hog_futex);
} hog_futexes SEC(".maps");

const volatile u32 sleep_mask = 4095; /* places - 1 */
const volatile bool count_blocked;
const volatile u64 handoff_ns = 1000000;

#define INTERRUPTIBLE     1
#define UNINTERRUPTIBLE   2
#define NOT_LOADING       0x400 /* TASK_NOLOAD: an uninterruptible sleep that counts as idle */
#define FUTEX_COMMAND     0x7f
#define FUTEX_BY_CLOCK    0x100       /* FUTEX_CLOCK_REALTIME */
#define OWNER             0x3fffffffu /* FUTEX_TID_MASK */
#define OWNER_AT          8           /* in a mutex of glibc, from its futex */
#define TIMED_NS          20000000    /* a longer wait with a timeout is no lock */
#define CONTENDED         2u
#define CONTENDED_WAITERS 0x80000000u

enum futex_command { FUTEX_WAIT = 0, FUTEX_LOCK_PI = 6, FUTEX_WAIT_BITSET = 9, FUTEX_LOCK_PI2 = 13 };

/* How a task entered the kernel. */
struct entry {
    u64 call;                /* number of the system call; -1: a fault or an interrupt */
    u64 first, arguments[3]; /* the second to the fourth */
};

#ifdef __TARGET_ARCH_x86
#define CALL_FUTEX 202
static __always_inline struct entry entry_of(struct pt_regs___kernel *regs)
{
    return (struct entry){regs->orig_ax, regs->di, {regs->si, regs->dx, regs->r10}};
}

/* Calls that serve files and nothing else that can be slow: no pipe, socket or terminal. Such calls wait for
 * the journal without being marked. */
static __always_inline bool is_of_file(u64 call)
{
    switch (call) {
    case 2:           /* open */
    case 17 ... 18:   /* pread64, pwrite64 */
    case 26:          /* msync */
    case 74 ... 77:   /* fsync, fdatasync, truncate, ftruncate */
    case 82 ... 88:   /* rename to symlink */
    case 162:         /* sync */
    case 257 ... 258: /* openat, mkdirat */
    case 263 ... 266: /* unlinkat to symlinkat */
    case 277:         /* sync_file_range */
    case 285:         /* fallocate */
    case 295 ... 296: /* preadv, pwritev */
    case 306:         /* syncfs */
    case 316:         /* renameat2 */
    case 327 ... 328: /* preadv2, pwritev2 */
        return true;
    default:
        return false;
    }
}

/* Calls that wait until data are on the disk: fsync, fdatasync, msync, sync, sync_file_range, syncfs. */
static __always_inline bool is_sync(u64 call)
{
    return call == 74 || call == 75 || call == 26 || call == 162 || call == 277 || call == 306;
}

/* Calls that change the address space: mmap, mprotect, munmap, brk, mremap, madvise. */
static __always_inline bool is_of_memory(u64 call)
{
    return (call >= 9 && call <= 12) || call == 25 || call == 28;
}
#else
#define CALL_FUTEX 98
static __always_inline struct entry entry_of(struct pt_regs___kernel *regs)
{
    return (struct entry){
        (u64)(s64)regs->syscallno, regs->orig_x0, {regs->regs[1], regs->regs[2], regs->regs[3]}};
}

/* As above. */
static __always_inline bool is_of_file(u64 call)
{
    switch (call) {
    case 34 ... 38:   /* mkdirat to renameat */
    case 45 ... 47:   /* truncate, ftruncate, fallocate */
    case 56:          /* openat */
    case 67 ... 70:   /* pread64, pwrite64, preadv, pwritev */
    case 81 ... 84:   /* sync, fsync, fdatasync, sync_file_range */
    case 227:         /* msync */
    case 267:         /* syncfs */
    case 276:         /* renameat2 */
    case 286 ... 287: /* preadv2, pwritev2 */
        return true;
    default:
        return false;
    }
}

static __always_inline bool is_sync(u64 call)
{
    return (call >= 81 && call <= 84) || call == 227 || call == 267;
}

static __always_inline bool is_of_memory(u64 call)
{
    return (call >= 214 && call <= 216) || call == 222 || call == 226 || call == 233;
}
#endif

/* bpf_task_pt_regs() exists (5.15, dd6e10fbd9fb), and with it bpf_get_current_task_btf(). */
static __always_inline bool entry_known(void)
{
    return __builtin_preserve_enum_value(*(enum bpf_func_id *)BPF_FUNC_task_pt_regs, 0 /* exists */);
}

/*
 * Locks and condition variables sleep in the same call; the value that they expect in memory tells them
 * apart.
 *
 *   glibc's locks                  FUTEX_WAIT for 2, or (robust ones) for the owner and CONTENDED_WAITERS
 *   musl's locks                   FUTEX_WAIT for something and CONTENDED_WAITERS
 *   Rust's locks                   FUTEX_WAIT_BITSET for 2
 *   glibc's conditions, semaphores FUTEX_WAIT_BITSET, with a clock though without a time, for any value
 *   musl's conditions and joins    FUTEX_WAIT for 2
 *   Rust's conditions              FUTEX_WAIT_BITSET for the number of signals so far, which can be 2
 *   Rust's and QEMU's parking      for -1
 *   Go's idle threads, parking_lot for 0 or 1
 *
 * glibc gives each thread a list of robust locks; musl does so only when it needs one. A wait with a timeout
 * expects to time out, unless is_shared().
 */
static __always_inline u32 sleeps_in_futex(const struct entry *entry, bool robust)
{
    u32 how = entry->arguments[0], command = how & FUTEX_COMMAND, value = entry->arguments[1];

    if (command == FUTEX_LOCK_PI || command == FUTEX_LOCK_PI2)
        return HOG_ON_LOCK;
    if (command != FUTEX_WAIT && command != FUTEX_WAIT_BITSET)
        return HOG_ON_NOTHING;
    if (entry->arguments[2])
        return HOG_ON_TIMED;
    if (how & FUTEX_BY_CLOCK || value == ~0u)
        return HOG_ON_LOCK_IF_SHORT;
    if (value & CONTENDED_WAITERS)
        return HOG_ON_LOCK;
    if (value != CONTENDED || !robust)
        return HOG_ON_LOCK_IF_SHORT;
    return command == FUTEX_WAIT ? HOG_ON_LOCK : HOG_ON_LOCK_OR_SIGNAL;
}

static __always_inline bool is_robust(bool direct, struct task_struct *task)
{
    struct task_struct *from = direct ? cast_task(task) : task;
    struct task_struct___7_2 *newer = (void *)from;

    if (kernel_has(from, robust_list))
        return kernel_field(direct, from, robust_list);
    return !kernel_has(newer, futex.robust_list) || kernel_field(direct, newer, futex.robust_list);
}

static __always_inline u32 state_of(bool direct, struct task_struct *task)
{
    struct task_struct___5_13 *old = (void *)task;

    if (kernel_has(task, __state))
        return kernel_field(direct, task, __state);
    return kernel_field(direct, old, state);
}

/* Whether several threads of a process wait, with timeouts, on this futex, or did so a moment ago. Python's
 * interpreter lock is asked for like that, in steps of 5 ms. A timer or a pool that polls has a futex a
 * thread. The two groups of a condition variable of glibc are within 16 bytes. Entries are shared by all
 * CPUs: what is lost in a race comes back with the next wait. */
static __attribute__((noinline)) bool is_shared(u64 process, u64 address, u32 thread, u64 clock)
{
    u64 id = (process << 44 ^ address >> 4) * pipe_multiplier(2) | 1;
    u32 place = id >> 56, now = (clock >> 20) | 1;
    struct hog_futex *futex = bpf_map_lookup_elem(&hog_futexes, &place);

    if (!futex)
        return false;
    if (futex->id != id) {
        futex->id = id;
        futex->thread = thread;
        futex->shared = 0;
        return false;
    }
    if (futex->thread != thread) {
        futex->thread = thread;
        futex->shared = now;
        return true;
    }
    return futex->shared && now - futex->shared < 1000;
}

/* The thread that has the lock, by the futex of `current`; a hint, as the memory is the process's own. */
static __always_inline u32 holder_by(const struct entry *entry)
{
    u32 command = entry->arguments[0] & FUTEX_COMMAND, value = entry->arguments[1], owner = 0;

    if (command == FUTEX_LOCK_PI || command == FUTEX_LOCK_PI2)
        bpf_probe_read_user(&owner, sizeof owner, (void *)entry->first);
    else if (value & CONTENDED_WAITERS)
        owner = value;
    else
        bpf_probe_read_user(&owner, sizeof owner, (void *)(entry->first + OWNER_AT));
    return owner & OWNER;
}

struct sleep_cause {
    u32 on; /* enum hog_sleeps_on */
    u32 holder;
};

/* What a task sleeps on. leaves: it is `current`, and leaves its CPU at `clock`. */
static __always_inline struct sleep_cause sleeps_on(bool direct, struct task_struct *task, u32 state,
                                                    bool leaves, u64 clock)
{
    struct task_struct___psi *stalled = (void *)task;
    bool io = kernel_bit(direct, task, in_iowait);
    struct sleep_cause cause = {};

    if (kernel_has(stalled, in_memstall) && kernel_bit(direct, stalled, in_memstall)) {
        cause.on = HOG_ON_MEMORY;
        return cause;
    }
    if (!entry_known() || kernel_field(direct, task, flags) & PF_KTHREAD) {
        cause.on = io ? HOG_ON_IO : HOG_ON_NOTHING;
        return cause;
    }
    /* Here `task` is untyped: the task that leaves the CPU is `current`. */
    struct task_struct *typed = direct ? task : bpf_get_current_task_btf();
    struct entry entry = entry_of(bpf_task_pt_regs(typed));
    bool deep = (state & (UNINTERRUPTIBLE | NOT_LOADING)) == UNINTERRUPTIBLE;
    if (entry.call == CALL_FUTEX && !io) {
        cause.on = sleeps_in_futex(&entry, is_robust(direct, task));
        if (cause.on == HOG_ON_TIMED && (!leaves || !is_shared(kernel_field(direct, task, tgid), entry.first,
                                                               kernel_field(direct, task, pid), clock)))
            cause.on = HOG_ON_NOTHING;
        if (cause.on == HOG_ON_LOCK && leaves)
            cause.holder = holder_by(&entry);
    } else if (entry.call == ~0ull) {
        cause.on = io ? HOG_ON_MEMORY : deep ? HOG_ON_MMAP : HOG_ON_NOTHING;
    } else if (io || (deep && is_of_file(entry.call))) {
        cause.on = is_sync(entry.call) ? HOG_ON_SYNC : HOG_ON_IO;
    } else if (deep && is_of_memory(entry.call)) {
        cause.on = HOG_ON_MMAP;
    }
    return cause;
}

static __always_inline struct hog_sleep *sleep_of(bool direct, struct task_struct *task)
{
    u32 place = kernel_field(direct, task, pid) & sleep_mask;

    return bpf_map_lookup_elem(&hog_sleeps, &place);
}

/* A likely wait for work does not replace another sleep. */
static __always_inline void note_sleep(bool direct, struct task_struct *task, u32 cpu, u64 clock,
                                       struct sleep_cause cause)
{
    struct hog_sleep *s = cause.on ? sleep_of(direct, task) : NULL;

    if (!s || (s->task != (u64)task && s->on && s->on != HOG_ON_LOCK_IF_SHORT))
        return;
    s->task = (u64)task;
    s->at = clock;
    s->run_delay = kernel_field(direct, task, sched_info.run_delay);
    s->pcount = kernel_field(direct, task, sched_info.pcount);
    s->cpu = cpu;
    s->on = cause.on;
    s->holder = cause.holder;
}

#endif
