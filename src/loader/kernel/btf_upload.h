/* SPDX-License-Identifier: GPL-2.0-only */
/* Type data of an object -> kernel. */
#ifndef HOG_LOADER_KERNEL_BTF_UPLOAD_H
#define HOG_LOADER_KERNEL_BTF_UPLOAD_H

#include "loader/spec/btf.h"

/* For a kernel that knows everything first, and if it is refused with the kinds of 5.10. The fd, or -errno,
 * which a caller may well ignore: most programs load without BTF. */
int btf_upload(const struct btf *btf);

#endif
