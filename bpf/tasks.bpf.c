// SPDX-License-Identifier: GPL-2.0-only
/*
 * The counters of all threads, one record each: read as a file.
 *
 * The counters of a thread are added to its process when it is released. So that nothing counts twice, the
 * sums of exited threads are read first, and a thread that has been released by the time that its own
 * counters are read has none: they are in the sums already, or will be in the next snapshot. User space
 * takes these sums from the first record of a process.
 *
 * The iterator sees the threads of hog's own PID namespace.
 */
#include "kernel/mm.bpf.h"
#include "kernel/task.bpf.h"
#include "lib/cast.bpf.h"
#include "lib/task_key.bpf.h"
#include "tasks/stuck.bpf.h"

char gpl[] SEC("license") = "GPL";

enum hog_task_flags {
    HOG_TASK_KERNEL = 1, /* a kernel thread */
    HOG_TASK_IO = 2,     /* bytes are known */
    HOG_TASK_MEMORY = 4, /* pages are known */
    HOG_TASK_STUCK = 8,  /* not a struct hog_task but a struct hog_stuck */
};
const volatile enum hog_task_flags task_flags = HOG_TASK_KERNEL;

struct hog_task_counts {
    u64 minor, major, read_bytes, write_bytes; /* since creation */
    u64 usr, sys;                              /* ns; by ticks, or exact where the kernel counts so */
};

struct hog_task {
    u64 key;
    u64 id;     /* the key; for tasks outside the PID namespace the kernel's own pid */
    u64 born;   /* start time that the key is made of, ns since boot */
    u64 thread; /* thread id and start time */
    u64 thread_born;
    u64 ran; /* ns on CPU since creation */
    struct hog_task_counts own, gone;
    s64 rss, swap; /* pages */
    u32 threads;   /* 1 */
    u32 flags;
};
struct hog_task *unused_task;

#define io_counted() kernel_has((struct task_io_accounting *)NULL, read_bytes)

static __always_inline void count_gone(struct hog_task_counts *counts, struct signal_struct *signal)
{
    counts->minor = signal->min_flt;
    counts->major = signal->maj_flt;
    counts->usr = signal->utime;
    counts->sys = signal->stime;
    if (io_counted()) {
        counts->read_bytes = signal->ioac.read_bytes;
        counts->write_bytes = signal->ioac.write_bytes;
    }
}

static __always_inline void count_own(struct hog_task_counts *counts, struct task_struct *task)
{
    counts->minor = task->min_flt;
    counts->major = task->maj_flt;
    counts->usr = task->utime;
    counts->sys = task->stime;
    if (io_counted()) {
        counts->read_bytes = task->ioac.read_bytes;
        counts->write_bytes = task->ioac.write_bytes;
    }
}

static __always_inline void measure_memory(struct hog_task *record, struct mm_struct *mm)
{
    struct mm_struct___6_1 *old = (void *)mm;

    if (!mm || (record->flags & HOG_TASK_KERNEL))
        return;
    if (kernel_has(mm, rss_stat[0].count)) {
        record->rss = mm->rss_stat[0].count + mm->rss_stat[1].count + mm->rss_stat[3].count;
        record->swap = mm->rss_stat[2].count;
    } else if (kernel_has(old, rss_stat.count[0].counter)) {
        /* Verifiers of that time know no arrays of typedefs, so no typed pointer leads there. */
        s64 counts[4];
        bpf_probe_read_kernel(counts, sizeof counts, __builtin_preserve_access_index(&old->rss_stat.count));
        record->rss = counts[0] + counts[1] + counts[3];
        record->swap = counts[2];
    } else {
        return;
    }
    record->flags |= HOG_TASK_MEMORY;
}

static __always_inline void report_task(struct bpf_iter__task *ctx, bool stuck)
{
    struct task_struct *task = ctx->task;
    struct hog_task record = {.threads = 1};

    if (!task)
        return;
    struct task_struct *cast = cast_task(task), *leader = cast->group_leader;
    struct mm_struct *mm = cast->mm;
    if (!keys.by_thread)
        count_gone(&record.gone, cast->signal);
    barrier();
    count_own(&record.own, task);
    barrier();
    if (!cast->sighand)
        record.own = (struct hog_task_counts){};

    record.thread_born = task->start_boottime;
    record.born = keys.by_thread ? record.thread_born : leader->start_boottime;
    record.key = record.id = task_key_of(true, task, leader, task->pid).key;
    if (record.key == HOG_KEY_OUTSIDE)
        record.id = ~make_key(task->tgid, keys.by_thread ? task->pid : 0, record.born >> HOG_KEY_BIRTH_NS);
    record.thread = make_key(task->pid, 0, record.thread_born >> HOG_KEY_BIRTH_NS);
    record.ran = task->se.sum_exec_runtime;
    record.flags = (task->flags & PF_KTHREAD ? HOG_TASK_KERNEL : 0) | (io_counted() ? HOG_TASK_IO : 0);
    measure_memory(&record, mm);
    bpf_seq_write(ctx->meta->seq, &record, sizeof record);
    if (stuck)
        report_stuck(ctx, task, record.key, record.thread, HOG_TASK_STUCK, record.flags & HOG_TASK_KERNEL);
}

/* Two programs: the second one where the first is refused. */
SEC("iter/task")
int hog_tasks_stuck(struct bpf_iter__task *ctx)
{
    report_task(ctx, true);
    return 0;
}

SEC("iter/task")
int hog_tasks(struct bpf_iter__task *ctx)
{
    report_task(ctx, false);
    return 0;
}
