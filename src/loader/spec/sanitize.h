/* SPDX-License-Identifier: GPL-2.0-only */
/* Type data of an object, rewritten to what a kernel knows. */
#ifndef HOG_LOADER_SPEC_SANITIZE_H
#define HOG_LOADER_SPEC_SANITIZE_H

#include <stdbool.h>
#include <stddef.h>
#include "base/error.h"

/* What the kernel can be given. All false: the first BTF kernels, 4.18..4.20. */
struct btf_support {
    bool func;        /* FUNC and FUNC_PROTO, 5.0 (commit 2667a2626f4d) */
    bool datasec;     /* VAR and DATASEC, 5.2 (commit f063c889c9458) */
    bool func_global; /* linkage in FUNC's vlen, 5.6 (commit 51c39bb1d5d1) */
    bool float_kind;  /* FLOAT, 5.14 (commit b1828f0b0482) */
    bool decl_tag;    /* DECL_TAG, 5.16 (commits b5ea834dde6b, 223f903e9c83) */
    bool type_tag;    /* TYPE_TAG, 5.17 (commit 8c42d2fa4eeb) */
    bool enum64;      /* ENUM64 and signed ENUM, 6.0 (commit 6089fb325cf7) */
};

/*
 * Makes a copy of raw BTF (native byte order) in which every type keeps its id, and those that the kernel
 * does not know are replaced by something of the same size that it does. Externs (variables and functions
 * with extern linkage, and the data sections that list them) are always replaced: no kernel takes them in a
 * program's BTF.
 *
 * *out is malloc'ed. -EINVAL and a reason for damaged input.
 */
int btf_sanitize(const void *raw, size_t size, const struct btf_support *support, void **out,
                 size_t *out_size, struct error *why);

#endif
