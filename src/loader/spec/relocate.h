/* SPDX-License-Identifier: GPL-2.0-only */
/* A spec's programs and a target's types. */
#ifndef HOG_LOADER_SPEC_RELOCATE_H
#define HOG_LOADER_SPEC_RELOCATE_H

#include "loader/spec/core.h"
#include "loader/spec/spec.h"

/* Notes all names that the object asks for: CO-RE types, what programs attach to, externs. After this for all
 * objects, one pass over the target's types answers everything. 0 or -ENOMEM. */
int spec_want(const struct spec *spec, struct target_btf *target);

/* The id of what the program attaches to; 0: it needs none; -errno with a reason. target NULL: there are no
 * types. */
int spec_attach_id(const struct program_spec *program, struct target_btf *target, struct error *why);

/* Does all CO-RE relocations of linked code; code->core says what became of each. The first that fails gives
 * the error and the reason, and the others are done all the same. */
int spec_relocate(const struct spec *spec, struct core_resolver *resolver, struct program_code *code,
                  struct error *why);

#endif
