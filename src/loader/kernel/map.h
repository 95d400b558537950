/* SPDX-License-Identifier: GPL-2.0-only */
/* Maps in the kernel. */
#ifndef HOG_LOADER_KERNEL_MAP_H
#define HOG_LOADER_KERNEL_MAP_H

#include "loader/kernel/object.h"

/* A name as bpf(2) takes it: cut to 15 bytes, others than letters, digits, '_' and '.' replaced. */
void kernel_name(char to[BPF_OBJ_NAME_LEN], const char *name);

/* Puts a program that has just been loaded into the slots of program arrays that ask for it. */
int map_fill_program_slots(const struct object *obj, const struct object_program *program, struct error *why);

#endif
