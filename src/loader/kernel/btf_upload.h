/* SPDX-License-Identifier: GPL-2.0-only */
/* Type data of an object -> kernel. */
#ifndef HOG_LOADER_KERNEL_BTF_UPLOAD_H
#define HOG_LOADER_KERNEL_BTF_UPLOAD_H

#include <stddef.h>
#include "base/error.h"

/* Gives raw BTF to the kernel: for a kernel that knows everything first, and if it is refused rewritten to
 * what the probes say. The fd, or -errno with the kernel's own words, which a caller may well ignore: most
 * programs load without BTF. */
int btf_upload(const void *raw, size_t size, struct error *why);

#endif
