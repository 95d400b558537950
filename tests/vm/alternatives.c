// SPDX-License-Identifier: GPL-2.0-only
/* Lists every alternative that hog has for its hooks: VIEW WHAT HOOK. */
#include <stdio.h>
#include "metric/metric.h"

int main(void)
{
    for (const struct metric *const *metric = metrics; *metric; metric++)
        for (const struct hook_ways *const *source = (*metric)->ways; *source; source++)
            for (const struct hook_ways *ways = *source; ways->what; ways++)
                for (size_t i = 0; i < ways->n; i++)
                    printf("%s %s %s\n", (*metric)->name, ways->what, ways->list[i].hook);
    return 0;
}
