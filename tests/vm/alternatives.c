// SPDX-License-Identifier: GPL-2.0-only
/* Lists every alternative that hog has for its hooks: VIEW,.. WHAT HOOK, with all views that use the source.
 */
#include <stdio.h>
#include "view/view.h"

static bool uses(const struct view *view, const struct source *source)
{
    for (const struct source_use *use = view->sources; use->source; use++)
        if (use->source == source)
            return true;
    return false;
}

/* A source stands once, with the first view that uses it. */
static bool is_first(const struct view *const *view, const struct source *source)
{
    for (const struct view *const *before = views; before < view; before++)
        if (uses(*before, source))
            return false;
    return true;
}

static void list_source(const struct view *const *first, const struct source *source)
{
    for (const struct hook_ways *ways = source->ways; ways && ways->what; ways++)
        for (size_t i = 0; i < ways->n; i++) {
            printf("%s", (*first)->name);
            for (const struct view *const *view = first + 1; *view; view++)
                if (uses(*view, source))
                    printf(",%s", (*view)->name);
            printf(" %s %s\n", ways->what, ways->list[i].hook);
        }
}

int main(void)
{
    for (const struct view *const *view = views; *view; view++)
        for (const struct source_use *use = (*view)->sources; use->source; use++)
            if (is_first(view, use->source))
                list_source(view, use->source);
    return 0;
}
