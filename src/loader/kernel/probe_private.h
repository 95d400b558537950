/* SPDX-License-Identifier: GPL-2.0-only */
/* Between the files that probe. */
#ifndef HOG_LOADER_KERNEL_PROBE_PRIVATE_H
#define HOG_LOADER_KERNEL_PROBE_PRIVATE_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stdint.h>

/* Loads a few instructions; fd or -errno. name: NULL for none. */
int probe_load(const struct bpf_insn *insns, uint32_t n, uint32_t type, const char *name);

/* Does the kernel take type data with this in it? */
bool probe_btf(void);
bool probe_btf_func(void);
bool probe_btf_datasec(void);
bool probe_btf_func_global(void);
bool probe_btf_float(void);
bool probe_btf_decl_tag(void);
bool probe_btf_type_tag(void);
bool probe_btf_enum64(void);

#endif
