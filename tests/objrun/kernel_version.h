/* SPDX-License-Identifier: GPL-2.0-only */
/* For programs that ask for LINUX_KERNEL_VERSION. */
#ifndef HOG_TESTS_OBJRUN_KERNEL_VERSION_H
#define HOG_TESTS_OBJRUN_KERNEL_VERSION_H

#include <stdint.h>

/* KERNEL_VERSION(a, b, c) of the running kernel; 0 if it cannot be found. */
uint32_t kernel_version_code(void);

/* The parts, for tests: the first "a.b.c" in text; 0 if there is none. */
uint32_t version_code_in(const char *text);

#endif
