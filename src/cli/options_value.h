/* SPDX-License-Identifier: GPL-2.0-only */
/* What stands behind an option, read and put where it belongs. Reasons name the option or argument. */
#ifndef HOG_CLI_OPTIONS_VALUE_H
#define HOG_CLI_OPTIONS_VALUE_H

#include "cli/options.h"
#include "cli/options_table.h"
#include "base/quote.h"

/* "-k/--top" */
struct quoted option_label(const struct option_spec *spec);

/* Adds a name to a list, with ", " between. */
void append_name(char *list, size_t size, const char *name);

/* Each 0, or -EINVAL with a reason. The label is what the reason begins with. */
int option_number(const struct option_spec *spec, const char *label, const char *text, uint64_t *value,
                  struct error *why);
int option_interval(const struct option_spec *spec, const char *label, const char *text, uint64_t *ns,
                    struct error *why);
int option_pids(struct options *options, const struct option_spec *spec, const char *list, struct error *why);

/* values: the struct of the spec's offsets. value: "" for an option without. */
int option_apply(struct options *options, const struct option_spec *spec, void *values, const char *value,
                 struct error *why);

#endif
