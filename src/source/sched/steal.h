/* SPDX-License-Identifier: GPL-2.0-only */
/* The share of each CPU that the hypervisor takes, and what interrupts take, from /proc/stat. */
#ifndef HOG_SOURCE_SCHED_STEAL_H
#define HOG_SOURCE_SCHED_STEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct steal;

/* Shares, 0..1. Exact if the kernel accounts interrupts apart (IRQ_TIME_ACCOUNTING), else sampled at ticks.
 * Software interrupts include those that ksoftirqd handles. */
struct interrupts {
    bool known;
    double hard, soft;          /* of all CPUs */
    int cpu;                    /* with most of both; -1: none */
    double of_cpu, soft_of_cpu; /* there: both, and software interrupts only */
};

struct steal *steal_open(size_t cpus); /* NULL: no memory */
void steal_close(struct steal *steal);

/* Once a window. The kernel's unit is 10 ms, so shares cover the last half second or more. */
void steal_read(struct steal *steal, uint64_t now);

/* Whether interrupts took more than the hypervisor, over all CPUs. */
bool steal_is_of_interrupts(const struct steal *steal);

const struct interrupts *steal_interrupts(const struct steal *steal);

/* 0..1. */
double steal_share(const struct steal *steal, int cpu);

#endif
