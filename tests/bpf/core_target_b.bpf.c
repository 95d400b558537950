/* SPDX-License-Identifier: GPL-2.0-only */
/* Only the types of this object matter: the BTF of an invented kernel. */
#define TARGET_B
#include "core_target.h"

struct core_shape core_shape;
struct core_inner core_inner;
core_point core_a_point;
struct core_twin core_twin;
struct core_twin___other core_twin_other;
