/* SPDX-License-Identifier: GPL-2.0-only */
/* Which columns of a view a line holds, and in which order. */
#ifndef HOG_OUT_CHOICE_H
#define HOG_OUT_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"
#include "out/column.h"

#define CHOICE_COLUMNS 64

struct column_choice {
    bool wide;        /* all; false: the default set */
    const char *list; /* --columns: "a,b": these in this order; "+a,b": these, too; or NULL */
    const char *also; /* "a,b": columns that other options ask for; or NULL */
};

/* The chosen columns of `schema`, by number; returns how many. */
size_t choice_of(const struct column_choice *choice, const struct schema *schema,
                 uint8_t columns[CHOICE_COLUMNS]);

/* Whether each name of `list` is a column of one of the schemas (ends with NULL). -EINVAL with a reason that
 * has the valid names. option: where the list was given. */
int choice_check(const char *option, const char *list, const struct schema *const *schemas,
                 struct error *why);

#endif
