/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of the running kernel in a program: variables (ksyms) and functions (kfuncs). */
#ifndef HOG_LOADER_KERNEL_EXTERN_H
#define HOG_LOADER_KERNEL_EXTERN_H

#include "loader/kernel/object.h"

/*
 * Puts the kernel's ids into the instructions of the program's REF_BTF_ID and REF_KFUNC refs, or for names
 * without type data the addresses that extras know. A weak name that the kernel lacks becomes zero, and a
 * call of it an instruction that the verifier refuses if it can be reached; any other one is -ENOENT and a
 * reason.
 */
int extern_resolve(struct object *obj, struct object_program *program, struct error *why);

#endif
