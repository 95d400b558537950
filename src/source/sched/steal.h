/* SPDX-License-Identifier: GPL-2.0-only */
/* The share of each CPU that the hypervisor takes, from /proc/stat. */
#ifndef HOG_SOURCE_SCHED_STEAL_H
#define HOG_SOURCE_SCHED_STEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct steal;

struct steal *steal_open(size_t cpus); /* NULL: no memory */
void steal_close(struct steal *steal);

/* Once a window. The kernel's unit is 10 ms, so shares cover the last half second or more. */
void steal_read(struct steal *steal, uint64_t now);

/* Whether interrupts took more than the hypervisor, over all CPUs. */
bool steal_is_of_interrupts(const struct steal *steal);

/* 0..1. */
double steal_share(const struct steal *steal, int cpu);

#endif
