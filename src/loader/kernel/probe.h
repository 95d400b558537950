/* SPDX-License-Identifier: GPL-2.0-only */
/* What this kernel can do, found by doing it. */
#ifndef HOG_LOADER_KERNEL_PROBE_H
#define HOG_LOADER_KERNEL_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

enum feature {
    FEATURE_BTF_FUNC,        /* 5.0 */
    FEATURE_BTF_DATASEC,     /* 5.2 */
    FEATURE_BTF_FUNC_GLOBAL, /* 5.6 */
    FEATURE_BTF_FLOAT,       /* 5.14 */
    FEATURE_BTF_DECL_TAG,    /* 5.16 */
    FEATURE_BTF_TYPE_TAG,    /* 5.17 */
    FEATURE_BTF_ENUM64,      /* 6.0 */
    FEATURE_COUNT
};

bool feature(enum feature f);

const char *hook_kind(size_t number); /* from 0 on; NULL: no more */

/* Can a program of this kind be loaded and attached? 0 or -errno with the kernel's reason. Leaves nothing
 * behind. */
int probe_hook(const char *hook, struct error *why);

/* Where the code at an address of this process lies in /proc/self/exe; 0: it does not. */
uint64_t own_offset(uintptr_t address);

#endif
