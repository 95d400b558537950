/* SPDX-License-Identifier: GPL-2.0-only */
/* Cycles of each CPU, counted by the hardware: one perf event a CPU, which programs read by a map. */
#ifndef HOG_SOURCE_SCHED_CYCLES_H
#define HOG_SOURCE_SCHED_CYCLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "loader/object.h"

struct cycles;

/* root: in front of /sys; not "" in tests alone, where the PMU `cpu` below it says which type of event stands
 * for cycles. cpus: possible ones. -ENODEV: this host cannot count them; -EBUSY: others have all counters;
 * with a reason. */
int cycles_open(struct cycles **cycles, const char *root, int cpus, struct error *why);
/* Programs read them by this map (BPF_MAP_TYPE_PERF_EVENT_ARRAY) from now on. */
int cycles_join(struct cycles *cycles, const struct object_map *map, struct error *why);
/* Counts on CPUs that have come (online[cpu] is 1), and no more on those that went. Whether there were any.
 */
bool cycles_follow(struct cycles *cycles, const uint8_t *online);
/* What the CPU has counted; false: nobody knows. */
bool cycles_now(const struct cycles *cycles, int cpu, uint64_t *count);
void cycles_close(struct cycles *cycles); /* NULL is fine */

#endif
