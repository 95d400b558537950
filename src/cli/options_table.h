/* SPDX-License-Identifier: GPL-2.0-only */
/* The options that all views share. Those of one view are in its own table (struct view). */
#ifndef HOG_CLI_OPTIONS_TABLE_H
#define HOG_CLI_OPTIONS_TABLE_H

#include "base/option.h"

extern const struct option_spec option_table[]; /* offsets in struct options; ends with a NULL name */

/* Names by enum out_format, NULL-terminated. */
extern const char *const format_names[];

#endif
