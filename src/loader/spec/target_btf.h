/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Type data of the target kernel: looked at where it lies in memory, or read in pieces and never held whole.
 * What is kept is an index of some 20 KiB, and the types and strings that were asked for: hog's peak RSS
 * stays below the size of the data itself (5..8 MiB).
 */
#ifndef HOG_LOADER_SPEC_TARGET_BTF_H
#define HOG_LOADER_SPEC_TARGET_BTF_H

#include <stdint.h>
#include "base/error.h"
#include "loader/spec/bytes.h"

struct target_btf;

/* Of raw BTF, or of an ELF file with a section .BTF. The source of the bytes must outlive it; closing it is
 * the caller's. Cut short or damaged: -EINVAL with a reason. */
int target_btf_new(struct target_btf **out, const struct bytes *bytes, struct error *why);
void target_btf_free(struct target_btf *target); /* NULL is fine */

/* Id of the type of this kind (BTF_KIND_*) and exact name, or -ENOENT. Names that the relocated objects
 * mention (externs, attach targets) are answered from what was read already, others cost a pass over the
 * data. */
int target_btf_find(struct target_btf *target, const char *name, uint32_t kind);

#endif
