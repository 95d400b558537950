/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Type data of the target kernel, read in pieces and never held whole: an index of a few KiB, a small cache
 * of pages, and the answers. That keeps hog's peak RSS below the size of the data itself (5..8 MiB).
 */
#ifndef HOG_LOADER_SPEC_TARGET_BTF_H
#define HOG_LOADER_SPEC_TARGET_BTF_H

#include <stdint.h>
#include "base/error.h"

struct target_btf;
struct object;

/* Opens raw BTF (or an ELF file with a .BTF section) at path; NULL = /sys/kernel/btf/vmlinux.
 * A file cut short or damaged: -EINVAL with a reason. */
int target_btf_open(struct target_btf **out, const char *path, struct error *why);
void target_btf_close(struct target_btf *target);

/* Id of the type of this kind (BTF_KIND_*) and exact name, or -ENOENT. Names that the relocated objects
 * mention (externs, attach targets) are answered from what was read already, others cost a pass over the
 * data. */
int target_btf_find(struct target_btf *target, const char *name, uint32_t kind);

#endif
