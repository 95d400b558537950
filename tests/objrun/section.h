/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOG_TESTS_OBJRUN_SECTION_H
#define HOG_TESTS_OBJRUN_SECTION_H

#include "loader/spec/section.h"

/* All kinds that kernels know, but for those that hog itself uses. */
extern const struct section_kind objrun_sections[];
extern const size_t objrun_nsections;

#endif
