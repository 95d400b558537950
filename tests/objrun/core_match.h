/* SPDX-License-Identifier: GPL-2.0-only */
/* Comparing whole types, for programs that ask for more than a struct, union or enum of a name. */
#ifndef HOG_TESTS_OBJRUN_CORE_MATCH_H
#define HOG_TESTS_OBJRUN_CORE_MATCH_H

#include "loader/spec/core.h"

/* Of TYPE_EXISTS and of TYPE_MATCHES. */
bool core_types_compatible(const struct type_source *local, uint32_t local_id,
                           const struct type_source *target, uint32_t target_id);
bool core_types_match(const struct type_source *local, uint32_t local_id, const struct type_source *target,
                      uint32_t target_id);

/* The hook: whichever of these the relocation asks for. */
bool core_compare_types(const struct core_spec *local, const struct type_source *target, uint32_t candidate);

#endif
