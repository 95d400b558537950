/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOG_TESTS_INSN_H
#define HOG_TESTS_INSN_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stdio.h>

/* i[1] must exist if i[0] is a 64-bit load of an immediate. */
void insn_text(const struct bpf_insn *i, char *to, size_t size);

#endif
