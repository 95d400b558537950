// SPDX-License-Identifier: GPL-2.0-only
/* Lists every alternative that hog has for its hooks: VIEW WHAT HOOK. */
#include <stdio.h>
#include "view/view.h"

int main(void)
{
    for (const struct view *const *view = views; *view; view++)
        for (const struct hook_ways *const *source = (*view)->ways; *source; source++)
            for (const struct hook_ways *ways = *source; ways->what; ways++)
                for (size_t i = 0; i < ways->n; i++)
                    printf("%s %s %s\n", (*view)->name, ways->what, ways->list[i].hook);
    return 0;
}
