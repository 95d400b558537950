/* SPDX-License-Identifier: GPL-2.0-only */
/* Between the files that make a spec. */
#ifndef HOG_LOADER_SPEC_SPEC_PRIVATE_H
#define HOG_LOADER_SPEC_SPEC_PRIVATE_H

#include "loader/spec/spec.h"

int spec_read_functions(struct spec *spec, struct error *why); /* functions.c */
/* The function that begins there, or NULL. */
const struct spec_function *spec_function_at(const struct spec *spec, uint32_t section, uint32_t start);

int spec_read_maps(struct spec *spec, struct error *why);      /* maps.c */
int spec_read_data(struct spec *spec, struct error *why);      /* data.c */
int spec_read_map_slots(struct spec *spec, struct error *why); /* maps.c */
int spec_fill_datasecs(struct spec *spec, struct error *why);  /* data.c */

/* Copies the records of .BTF.ext about a program's functions: func_info and line_info (records.c). */
int spec_link_records(const struct spec *spec, struct arena *arena, struct program_code *code,
                      struct error *why);

static inline bool is_ldimm64(const struct bpf_insn *insn)
{
    return insn->code == (BPF_LD | BPF_IMM | BPF_DW);
}

#endif
