/* SPDX-License-Identifier: GPL-2.0-only */
/* Arguments of system calls, and the files that descriptors stand for. */
#ifndef HOG_BPF_FILE_DESCRIPTORS_H
#define HOG_BPF_FILE_DESCRIPTORS_H

#include "file/file.bpf.h"
#include "lib/cast.bpf.h"

static __always_inline bool is_compat(bool direct, struct task_struct *task)
{
#ifdef __TARGET_ARCH_arm64
    return kernel_field(direct, task, thread_info.flags) >> 22 & 1; /* TIF_32BIT */
#else
    return kernel_field(direct, task, thread_info.status) & 2; /* TS_COMPAT */
#endif
}

/* The file behind a descriptor of `current`, and its mount as above. */
struct behind {
    u64 mount, file;
};

/* files: of `current`. */
static __always_inline struct behind behind(bool direct, struct files_struct *files,
                                            struct hog_file_thread *thread, u32 descriptor)
{
    struct file *file = NULL;

    if (!files)
        return (struct behind){};
    struct fdtable *table = kernel_field(direct, files, fdt);
    if (descriptor >= kernel_field(direct, table, max_fds))
        return (struct behind){};
    struct file **at = kernel_field(direct, table, fd) + descriptor;
    if (direct && CAN_CAST) { /* a read of untyped memory takes as long as everything else together */
        struct kiocb *begins_so = bpf_rdonly_cast(at, kernel_type(struct kiocb));
        file = begins_so->ki_filp;
        return (struct behind){mount_of(true, file), (u64)file};
    }
    bpf_probe_read_kernel(&file, sizeof file, at);
    if (!file)
        return (struct behind){};
    struct path path = kernel_field(false, file, f_path);
    if (!thread)
        return (struct behind){mount_of(false, file), (u64)file};
    if (thread->path_mount != (u64)path.mnt || thread->path_dentry != (u64)path.dentry) {
        thread->path_mount = (u64)path.mnt;
        thread->path_dentry = (u64)path.dentry;
        thread->path_is = mount_of(false, file);
    }
    return (struct behind){thread->path_is, (u64)file};
}

static __always_inline struct behind behind_of(bool direct, struct task_struct *task, u32 descriptor)
{
    return behind(direct, kernel_field(direct, task, files), NULL, descriptor);
}

#ifdef __TARGET_ARCH_arm64
#define ARGUMENTS(regs, first)                                                                               \
    {                                                                                                        \
        (regs)->first, (regs)->regs[1], (regs)->regs[2]                                                      \
    }
#define number_of(regs) ((u32)(regs)->syscallno)
#define AT_ENTRY        regs[0]
#define AT_EXIT         orig_x0
#else
#define ARGUMENTS(regs, first)                                                                               \
    {                                                                                                        \
        (regs)->first, (regs)->si, (regs)->dx                                                                \
    }
#define number_of(regs) ((regs)->orig_ax)
#define AT_ENTRY        di
#define AT_EXIT         di
#endif

#endif
