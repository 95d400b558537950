/* SPDX-License-Identifier: GPL-2.0-only */
/* Plain loads through an address (6.2). A pointer that is loaded through a pointer that verifiers trust takes
 * up to four searches of all types of the kernel (from 6.3, 6fcd486b3a0a, to 7.0): half a millisecond at
 * start. Through a cast one it takes none; but each load checks its address, so casts are for what runs
 * rarely. */
#ifndef HOG_BPF_LIB_CAST_H
#define HOG_BPF_LIB_CAST_H

#include "kernel/task.bpf.h"

extern void *bpf_rdonly_cast(const void *address, u32 type) __attribute__((section(".ksyms"), weak));

/* Type ids of the running kernel. Of the structs that begin with a pointer to a file, struct kiocb always
 * exists. */
#define kernel_type(T) __builtin_btf_type_id(*(T *)NULL, 1 /* of the target */)
#define CAN_CAST       (__builtin_preserve_type_info(*(struct kiocb *)NULL, 0) && bpf_rdonly_cast)

/* The same task, to load pointers from. */
static __always_inline struct task_struct *cast_task(struct task_struct *task)
{
    return CAN_CAST ? bpf_rdonly_cast(task, kernel_type(struct task_struct)) : task;
}

#endif
