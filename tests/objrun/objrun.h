/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOG_TESTS_OBJRUN_H
#define HOG_TESTS_OBJRUN_H

#include <stdbool.h>
#include <stdio.h>
#include "loader/kernel/object.h"

/* The programs of a relocated object as text, see docs/objrun.md. */
void objrun_dump(const struct object *obj, FILE *out);

/* Creates the maps and loads every program of a relocated object; with `run` also attaches or test-runs them.
 * Returns the exit status. */
int objrun_load(struct object *obj, bool run);

#endif
