/* SPDX-License-Identifier: GPL-2.0-only */
/* What stands behind an option, read and put where it belongs. Reasons name the option or argument. */
#ifndef HOG_OPTIONS_VALUE_H
#define HOG_OPTIONS_VALUE_H

#include "options.h"
#include "options_table.h"
#include "shown.h"

/* "-k/--top" */
struct shown option_label(const struct option_spec *spec);

/* Adds a name to a list, with ", " between. */
void append_name(char *list, size_t size, const char *name);

/* Each 0, or -EINVAL with a reason. The label is what the reason begins with. */
int option_number(const struct option_spec *spec, const char *label, const char *text, uint64_t *value,
                  struct why *w);
int option_interval(const struct option_spec *spec, const char *label, const char *text, uint64_t *ns,
                    struct why *w);
int option_pids(struct options *options, const struct option_spec *spec, const char *list, struct why *w);

/* value: "" for an option without. */
int option_apply(struct options *options, const struct option_spec *spec, const char *value, struct why *w);

#endif
