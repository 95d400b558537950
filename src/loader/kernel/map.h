/* SPDX-License-Identifier: GPL-2.0-only */
/* Maps in the kernel. */
#ifndef HOG_LOADER_KERNEL_MAP_H
#define HOG_LOADER_KERNEL_MAP_H

#include "loader/kernel/object.h"

/* A name as bpf(2) takes it: cut to 15 bytes, others than letters, digits, '_' and '.' replaced. */
void kernel_name(char to[BPF_OBJ_NAME_LEN], const char *name);

/* Makes one map: completes its sizes, sets fd, maps it if it is to be shared, and writes its contents. */
int map_create(const struct object *obj, struct object_map *map, struct error *why);

#endif
