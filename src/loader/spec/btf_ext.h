/* SPDX-License-Identifier: GPL-2.0-only */
/* .BTF.ext: for each section of code, records about its instructions. */
#ifndef HOG_LOADER_SPEC_BTF_EXT_H
#define HOG_LOADER_SPEC_BTF_EXT_H

#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>
#include "loader/spec/btf.h"

struct btf_ext;

enum btf_ext_kind { EXT_FUNC_INFO, EXT_LINE_INFO, EXT_CORE_RELO, EXT_KINDS };

/* Copies into the arena and checks. Records larger than what is known are fine, smaller ones are not. A CO-RE
 * relocation of half an instruction is an error, as it is for the kernel. */
int btf_ext_open(struct btf_ext **out, struct arena *arena, const void *bytes, size_t size,
                 const struct btf *btf, struct error *why);

/* Size of a record of this kind; 0: there are none. */
uint32_t btf_ext_record_size(const struct btf_ext *ext, enum btf_ext_kind kind);

/* Calls fn for each record of `count` instructions from `first` of code section `section`, sorted. `insn` is
 * the instruction's index in the section; the record's own first word is still in bytes. Stops at a non-zero
 * return and returns it; -E2BIG past the budget. */
int btf_ext_each(const struct btf_ext *ext, enum btf_ext_kind kind, const char *section, uint32_t first,
                 uint32_t count, int (*fn)(void *context, uint32_t insn, const void *record), void *context);

#endif
