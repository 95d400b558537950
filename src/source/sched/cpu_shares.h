/* SPDX-License-Identifier: GPL-2.0-only */
/* How long each task ran on each CPU in a window, and its part of the CPU's stolen time. */
#ifndef HOG_SOURCE_SCHED_CPU_SHARES_H
#define HOG_SOURCE_SCHED_CPU_SHARES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct share {
    uint64_t key;
    int64_t ns; /* credit given in earlier windows is subtracted */
};

struct cpu_shares {
    struct share *list; /* of all CPUs, in order of CPU */
    size_t n, room;
    size_t *first;   /* by possible CPU, and one more: index of its first share */
    int64_t *stolen; /* by possible CPU, ns */
    int cpus;        /* CPUs that are complete: index of the one being read */
};

bool cpu_shares_open(struct cpu_shares *s, size_t cpus); /* false: no memory */
void cpu_shares_close(struct cpu_shares *s);

/* A window: begin, then for each CPU all tasks that ran there and cpu_shares_cpu(). */
void cpu_shares_begin(struct cpu_shares *s);
void cpu_shares_ran(struct cpu_shares *s, uint64_t key, int64_t ns);
void cpu_shares_cpu(struct cpu_shares *s, int64_t stolen_ns);

/* The shares of a CPU from the first to *end, and the sum of the positive ones, ns. */
const struct share *cpu_shares_of(const struct cpu_shares *s, int cpu, const struct share **end);
int64_t cpu_shares_sum(const struct cpu_shares *s, int cpu);

typedef void (*share_fn)(void *context, uint64_t key, int64_t ns, int64_t stolen_ns);
/* stolen_ns: the CPU's stolen time in proportion to the run time there. */
void cpu_shares_each(const struct cpu_shares *s, share_fn fn, void *context);

#endif
