/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pages of mapped files that a fault requested from the file system: those that were not in the page cache,
 * and those in it that fault-around had not mapped with their neighbours.
 *
 * If the page has to be read, the fault usually waits, drops its lock and is retried. By then the page is
 * mostly found by fault-around, so the file system is not asked again: only the first request counts,
 * however it ends. The task's fault counters, which the kernel updates when a fault is over, tell whether a
 * request belongs to the same fault.
 */
#ifndef HOG_BPF_FILE_MMAP_H
#define HOG_BPF_FILE_MMAP_H

#include "file/file.bpf.h"

const volatile u32 page_bytes = 4096;

enum fault_result { /* enum vm_fault_reason */
                    FAULT_FAILED = 0x1 | 0x2 | 0x10 | 0x20 | 0x40,
                    FAULT_MAJOR = 0x4,
                    FAULT_RETRY = 0x400,
};
#define FLAG_TRIED 0x20 /* enum fault_flag */

/* How many faults the task has had, including this one. */
static __always_inline u64 faults_of(bool direct, struct task_struct *task)
{
    return kernel_field(direct, task, min_flt) + kernel_field(direct, task, maj_flt) + 1;
}

static __always_inline void fault_begins(bool direct, struct task_struct *task, struct vm_fault *fault)
{
    struct hog_file_thread *thread = place_for(direct, task);
    u64 at = kernel_field(true, fault, address), faults = faults_of(direct, task);

    if (!thread || (thread->fault_at == at && thread->faults == faults))
        return;
    thread->fault_at = at;
    thread->faults = faults;
    /* When it ends, the vma may map something else. */
    thread->fault_pages = mount_of(true, kernel_field(true, kernel_field(true, fault, vma), vm_file));
    thread->fault_since = bpf_ktime_get_ns();
}

static __always_inline void fault_ends(bool direct, struct task_struct *task, struct vm_fault *fault,
                                       u32 result)
{
    struct hog_file_thread *thread = own_place(direct, task);
    struct vm_fault___5_13 *before = (void *)fault;
    struct done done = {.via = HOG_VIA_MMAP, .bytes = page_bytes};
    u32 flags =
        kernel_has(fault, flags) ? kernel_field(true, fault, flags) : kernel_field(true, before, flags);

    struct file *file = kernel_field(true, kernel_field(true, fault, vma), vm_file);
    u64 mount;

    if (thread && thread->fault_at == kernel_field(true, fault, address) &&
        thread->faults == faults_of(direct, task)) {
        if (!thread->fault_since)
            return;
        done.ns = bpf_ktime_get_ns() - thread->fault_since;
        done.timed = true;
        thread->fault_since = 0;
        mount = thread->fault_pages;
    } else if (!(flags & FLAG_TRIED)) {
        mount = address_copied(mount_of(true, file));
    } else {
        return;
    }
    if (result & FAULT_FAILED)
        return;
    done.waited = (result & (FAULT_MAJOR | FAULT_RETRY)) || (flags & FLAG_TRIED);
    count_one(mount, (u64)file, HOG_FILE_READ, &done);
}

SEC("fentry/filemap_fault")
int hog_mmap_fentry(void *ctx)
{
    for_current(fault_begins, argument(ctx, 0, struct vm_fault *));
    return 0;
}

SEC("fexit/filemap_fault")
int hog_mmap_fexit(void *ctx)
{
    for_current(fault_ends, argument(ctx, 0, struct vm_fault *), argument(ctx, 1, u32));
    return 0;
}

/* The tracepoint reports neither the file nor the end. The mount through which the file was opened is left to
 * user space to find. */
static __always_inline void fault_seen(bool direct, struct task_struct *task, struct address_space *pages,
                                       u64 page)
{
    struct hog_file_thread *thread = place_for(direct, task);
    const struct done done = {.via = HOG_VIA_MMAP | OF_SUPER, .bytes = page_bytes};
    u64 faults = faults_of(direct, task);

    if (!thread)
        return;
    bool again = thread->fault_pages == (u64)pages && thread->fault_at == page && thread->faults == faults;
    thread->fault_pages = (u64)pages;
    thread->fault_at = page;
    thread->faults = faults;
    struct inode *inode = kernel_field(true, pages, host);
    if (!again && is_stored(true, inode))
        count_one(address_by(&thread->fault_since, (u64)kernel_field(true, inode, i_sb)), 0, HOG_FILE_READ,
                  &done);
}

SEC("tp_btf/mm_filemap_fault")
int hog_mmap_tp(void *ctx)
{
    for_current(fault_seen, argument(ctx, 0, struct address_space *), argument(ctx, 1, u64));
    return 0;
}

#endif
