// SPDX-License-Identifier: GPL-2.0-only
#include "view/top/culprit_memory.h"
#include <string.h>
#include "shared.types.h"

#define NOTICEABLE 1e6 /* bytes a second */

bool is_in_group(const struct cgroup_name *path, const struct cgroup_name *above)
{
    size_t length = above->length;

    if (length <= 1) /* "/" */
        return true;
    return path->length >= length && !memcmp(path->text, above->text, length) &&
           (path->length == length || path->text[length] == '/');
}

static bool is_of_group(const struct top *top, uint64_t key, const struct cgroup_name *above)
{
    const struct cgroup *group;

    if (!above->length)
        return true;
    group = top_group(top, key);
    return group && group->memory.known && is_in_group(&group->memory.path, above);
}

/* Reclaim takes pages from all, also from the one that takes them: what it gained over the span counts,
 * steadily or not. */
const struct judged_process *memory_grower(const struct top *top, const struct cgroup_name *path)
{
    const struct judged_process *most = NULL;
    double fastest = NOTICEABLE;

    for (size_t i = 0; i < top->process_table.capacity; i++) {
        const struct judged_process *process = &top->process_table.table[i];
        if (!process->key || process->key == HOG_KEY_OUTSIDE || !growth_rises(&process->growth))
            continue;
        struct growth_rate rate = growth_rate(&process->growth);
        if (rate.span_s <= 0 || rate.bytes_s <= fastest || !is_of_group(top, process->key, path))
            continue;
        fastest = rate.bytes_s;
        most = process;
    }
    return most;
}
