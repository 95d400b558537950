/* SPDX-License-Identifier: GPL-2.0-only */
/* Type data of an object, rewritten to what a kernel takes. */
#ifndef HOG_LOADER_SPEC_SANITIZE_H
#define HOG_LOADER_SPEC_SANITIZE_H

#include <stdbool.h>
#include <stddef.h>
#include "loader/spec/btf.h"

/*
 * Raw BTF in which every type keeps its id, and those that the kernel does not take are replaced by something
 * of the same size that it does. Externs (variables and functions with extern linkage, and the data sections
 * that list them) are always replaced: no kernel takes them in a program's BTF. If `old`, so are kinds that
 * came after 5.10: FLOAT (5.14, commit b1828f0b0482), DECL_TAG (5.16, b5ea834dde6b), TYPE_TAG (5.17,
 * 8c42d2fa4eeb), ENUM64 and signed ENUM (6.0, 6089fb325cf7).
 *
 * malloc'ed; NULL: out of memory.
 */
void *btf_sanitize(const struct btf *btf, bool old, size_t *size);

#endif
