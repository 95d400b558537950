/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOG_TESTS_OBJRUN_KERNEL_ADDRESS_H
#define HOG_TESTS_OBJRUN_KERNEL_ADDRESS_H

#include "loader/spec/spec.h"

/* Of a symbol, as /proc/kallsyms has it; 0: it has none, or hides it. */
uint64_t kernel_address(const struct spec *spec, const char *name);

#endif
