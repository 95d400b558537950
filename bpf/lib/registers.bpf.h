/* SPDX-License-Identifier: GPL-2.0-only */
/* Arguments and results of functions in user space, for programs of uprobes. */
#ifndef HOG_BPF_LIB_REGISTERS_H
#define HOG_BPF_LIB_REGISTERS_H

#include "kernel/helpers.bpf.h"

#ifdef __TARGET_ARCH_arm64
struct registers {
    u64 x[31], sp, pc, state;
};
#define register_0(r)  ((r)->x[0])
#define register_1(r)  ((r)->x[1])
#define register_2(r)  ((r)->x[2])
#define register_3(r)  ((r)->x[3])
#define register_4(r)  ((r)->x[4])
#define register_5(r)  ((r)->x[5])
#define result_of(r)   ((r)->x[0])
#define stack_of(r)    ((r)->sp)
#define code_of(r)     ((r)->pc)
#define entry_stack(r) ((r)->sp) /* at a return: stack_of() at the entry */
#else
struct registers {
    u64 r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs, flags, sp, ss;
};
#define register_0(r)  ((r)->di)
#define register_1(r)  ((r)->si)
#define register_2(r)  ((r)->dx)
#define register_3(r)  ((r)->cx)
#define register_4(r)  ((r)->r8)
#define register_5(r)  ((r)->r9)
#define result_of(r)   ((r)->ax)
#define stack_of(r)    ((r)->sp)
#define code_of(r)     ((r)->ip)
#define entry_stack(r) ((r)->sp - 8) /* the return address is already popped */
#endif

#endif
