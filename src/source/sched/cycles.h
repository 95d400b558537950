/* SPDX-License-Identifier: GPL-2.0-only */
/* Hardware cycle counts of each CPU: one perf event per CPU, which programs read through a map. */
#ifndef HOG_SOURCE_SCHED_CYCLES_H
#define HOG_SOURCE_SCHED_CYCLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "loader/kernel/object.h"

struct cycles;

/* root: prefix of /sys, only used by tests; the PMU `cpu` below it then gives the event type. cpus: possible
 * ones. -ENODEV: this host cannot count cycles; -EBUSY: all counters are in use; with a reason. */
int cycles_open(struct cycles **cycles, const char *root, int cpus, struct error *why);
/* Puts the events into this map (BPF_MAP_TYPE_PERF_EVENT_ARRAY) for programs. */
int cycles_join(struct cycles *cycles, const struct object_map *map, struct error *why);
/* Starts counting on CPUs that came online (online[cpu] is 1) and stops on those that went offline. Returns
 * whether there were any. */
bool cycles_follow(struct cycles *cycles, const uint8_t *online);
/* The CPU's count; false: not known. */
bool cycles_now(const struct cycles *cycles, int cpu, uint64_t *count);
void cycles_close(struct cycles *cycles); /* NULL is fine */

#endif
