/* SPDX-License-Identifier: GPL-2.0-only */
/* What a hypervisor takes of each CPU, by /proc/stat. */
#ifndef HOG_SOURCE_SCHED_STEAL_H
#define HOG_SOURCE_SCHED_STEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct steal;

struct steal *steal_open(size_t cpus); /* NULL: no memory */
void steal_close(struct steal *steal);

/* Once a window. The kernel tells in units of 10 ms: the shares are those of the last half second or more. */
void steal_read(struct steal *steal, uint64_t now);

/* Whether interrupts took more of all CPUs together than the hypervisor did. */
bool steal_is_of_interrupts(const struct steal *steal);

/* 0..1. */
double steal_share(const struct steal *steal, int cpu);

#endif
