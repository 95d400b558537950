/* SPDX-License-Identifier: GPL-2.0-only */
/* What this kernel can do, found by doing it. */
#ifndef HOG_LOADER_KERNEL_PROBE_H
#define HOG_LOADER_KERNEL_PROBE_H

#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

const char *hook_kind(size_t number); /* from 0 on; NULL: no more */

/* Can a program of this kind be loaded and attached? 0 or -errno with the kernel's reason. Leaves nothing
 * behind. */
int probe_hook(const char *hook, struct error *why);

/* Where the code at an address of this process lies in /proc/self/exe; 0: it does not. */
uint64_t own_offset(uintptr_t address);

#endif
