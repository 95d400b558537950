/* SPDX-License-Identifier: GPL-2.0-only */
/* How options go together, and with the views that were asked for. */
#ifndef HOG_CLI_OPTIONS_VIEWS_H
#define HOG_CLI_OPTIONS_VIEWS_H

#include <stdbool.h>
#include "base/option.h"
#include "cli/options.h"

#define MAX_GIVEN 128 /* more than there are options */

/* The options of a command line, each once, and the views that own them: NULL for those of all. */
struct given_options {
    size_t n;
    struct given_option {
        const struct option_spec *spec;
        const struct view *owner;
    } list[MAX_GIVEN];
};

void options_note(struct given_options *given, const struct option_spec *spec, const struct view *owner);

/* Whether each has an effect there. -EINVAL with a reason. */
int options_check_verb(const struct given_options *given, enum verb verb, struct error *why);

/* Settles what follows from the options, with the views asked for. -EINVAL with a reason. */
int options_check_views(struct options *options, const struct view *const *known,
                        const struct given_options *given, struct error *why);

#endif
