/* SPDX-License-Identifier: GPL-2.0-only */
/* Files with type data: the running kernel's, or another that the user names. */
#ifndef HOG_LOADER_KERNEL_TARGET_FILE_H
#define HOG_LOADER_KERNEL_TARGET_FILE_H

#include "loader/spec/target_btf.h"

/* Opens raw BTF (or an ELF file with a .BTF section) at path; NULL = /sys/kernel/btf/vmlinux.
 * A file cut short or damaged: -EINVAL with a reason. */
int target_btf_open(struct target_btf **out, const char *path, struct error *why);
void target_btf_close(struct target_btf *target); /* NULL is fine */

/* The same for all objects of a run, which name the same file, if one: open until target_btf_drop(), and read
 * through once for all that the embedded objects ask for. On failure *out is NULL. */
int target_btf_shared(struct target_btf **out, const char *path, struct error *why);
void target_btf_drop(void);

#endif
