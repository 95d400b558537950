/* SPDX-License-Identifier: GPL-2.0-only */
/* How options go together, and with the views that were asked for. */
#ifndef HOG_CLI_OPTIONS_VIEWS_H
#define HOG_CLI_OPTIONS_VIEWS_H

#include <stdbool.h>
#include "base/option.h"
#include "cli/options.h"

/* Whether `doctor` is asked for, in place of views. */
bool options_is_doctor(const struct options *options);

/* given: an option of each view of `known` that was given, or NULL. Settles what follows from the options.
 * -EINVAL with a reason. */
int options_check_views(struct options *options, const struct view *const *known,
                        const struct option_spec *const *given, struct error *why);

#endif
