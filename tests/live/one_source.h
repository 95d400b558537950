/* SPDX-License-Identifier: GPL-2.0-only */
/* A session of one source, for tests of what a source says. */
#ifndef HOG_TESTS_LIVE_ONE_SOURCE_H
#define HOG_TESTS_LIVE_ONE_SOURCE_H

#include "source/shared/sources.h"

static struct sources opened;

static inline int source_open(struct source_context *context, const struct source *source, unsigned needs,
                              struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    const struct source_use uses[] = {{source, needs, false}, {NULL, 0, false}};

    opened = (struct sources){.context = context};
    context->sources = &opened;
    return sources_open(&opened, uses, hooks, why);
}

#endif
