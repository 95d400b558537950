// SPDX-License-Identifier: GPL-2.0-only
/* Pressure stall information for the window line: the host's, and that of the most affected cgroup among
 * those of the rows. */
#include <stdio.h>
#include <string.h>
#include "view/top/state.h"

static double of_group(const struct cgroup *group, enum pressure_resource what)
{
    return group->earlier_ns ? pressure_pct(&group->earlier[what], &group->pressure[what],
                                            group->read_ns - group->earlier_ns)
                             : -1;
}

/* Sum of all three; < 0: none is known. */
static double sum_of_group(const struct cgroup *group)
{
    double sum = 0;
    bool known = false;

    for (int i = 0; i < PRESSURES; i++) {
        double pct = of_group(group, (enum pressure_resource)i);
        known |= pct >= 0;
        sum += pct >= 0 ? pct : 0;
    }
    return known ? sum : -1;
}

/* The root cgroup contains all others and mostly equals the host: it is named only if there is no other. */
static bool suffers_more(const struct cgroup_name *group, double sum, const struct cgroup_name *than,
                         double most)
{
    bool narrow = group->length > 1, narrow_before = than->length > 1;

    if (sum < 0)
        return false;
    return narrow != narrow_before ? narrow : sum > most;
}

void top_pressure(struct top *top, uint64_t window_ns)
{
    struct top_pressure *p = &top->pressures;
    double most = -1;

    memcpy(p->before, p->now, sizeof p->before);
    pressures_read(&p->files, p->now);
    for (int i = 0; i < PRESSURES; i++) {
        p->some[i] = pressure_pct(&p->before[i], &p->now[i], window_ns);
        p->full[i] = pressure_full_pct(&p->before[i], &p->now[i], window_ns);
    }
    p->group.length = 0;
    for (size_t i = 0; i < top->nranked; i++) {
        const struct cgroup *group = top_group(top, top->ranked[i]->key);
        if (!group || !group->unified.length)
            continue;
        double sum = sum_of_group(group);
        if (!suffers_more(&group->unified, sum, &p->group, most))
            continue;
        most = sum;
        p->group = group->unified;
        for (int j = 0; j < PRESSURES; j++)
            p->group_some[j] = of_group(group, (enum pressure_resource)j);
    }
}

static struct cell pressure_percent(double value)
{
    return value < 0 ? cell_unknown() : cell_decimal(value, 2);
}

size_t top_pressure_fields(const struct top *top, struct field *fields, size_t n)
{
    const struct top_pressure *p = &top->pressures;
    bool group = p->group.length;
    const struct field all[] = {
        {"psi_cpu_pct", pressure_percent(p->some[PRESSURE_CPU])},
        {"psi_mem_pct", pressure_percent(p->some[PRESSURE_MEMORY])},
        {"psi_mem_full_pct", pressure_percent(p->full[PRESSURE_MEMORY])},
        {"psi_io_pct", pressure_percent(p->some[PRESSURE_IO])},
        {"psi_io_full_pct", pressure_percent(p->full[PRESSURE_IO])},
        {"psi_cgroup", group ? cell_bytes(p->group.text, p->group.length) : cell_unknown()},
        {"psi_cgroup_cpu_pct", pressure_percent(group ? p->group_some[PRESSURE_CPU] : -1)},
        {"psi_cgroup_mem_pct", pressure_percent(group ? p->group_some[PRESSURE_MEMORY] : -1)},
        {"psi_cgroup_io_pct", pressure_percent(group ? p->group_some[PRESSURE_IO] : -1)},
    };

    return fields_copy(fields, n, all, sizeof all / sizeof *all);
}
