/* SPDX-License-Identifier: GPL-2.0-only */
/* Parses and stores the value of an option. Reasons name the option or argument. */
#ifndef HOG_CLI_OPTIONS_VALUE_H
#define HOG_CLI_OPTIONS_VALUE_H

#include "cli/options.h"
#include "cli/options_table.h"
#include "base/quote.h"

/* "-k/--top" */
struct quoted option_label(const struct option_spec *spec);

/* Each 0, or -EINVAL with a reason. The reason begins with the label. */
int option_number(const struct option_spec *spec, const char *label, const char *text, uint64_t *value,
                  struct error *why);
int option_interval(const struct option_spec *spec, const char *label, const char *text, uint64_t *ns,
                    struct error *why);
int option_pids(struct options *options, const struct option_spec *spec, const char *list, struct error *why);

/* values: the struct that the spec's offset refers to. value: "" if the option takes none. */
int option_apply(struct options *options, const struct option_spec *spec, void *values, const char *value,
                 struct error *why);

#endif
