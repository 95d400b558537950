/* SPDX-License-Identifier: GPL-2.0-only */
/* Who ran on which CPU in a window, and for how long; and how much of what was stolen of the CPU is his. */
#ifndef HOG_SOURCE_SCHED_CPU_SHARES_H
#define HOG_SOURCE_SCHED_CPU_SHARES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct share {
    uint64_t key;
    int64_t ns; /* what he had of it before the window is taken off */
};

struct cpu_shares {
    struct share *list; /* of all CPUs, one after the other */
    size_t n, room;
    size_t *first;   /* a possible CPU, and one more: where its shares begin */
    int64_t *stolen; /* a possible CPU: ns in which nobody could run there */
    int cpus;        /* that this window has already: the next is the one that is being read */
};

bool cpu_shares_open(struct cpu_shares *s, size_t cpus); /* false: no memory */
void cpu_shares_close(struct cpu_shares *s);

/* A window: begin, then for each CPU all who ran there and cpu_shares_cpu(). */
void cpu_shares_begin(struct cpu_shares *s);
void cpu_shares_ran(struct cpu_shares *s, uint64_t key, int64_t ns);
void cpu_shares_cpu(struct cpu_shares *s, int64_t stolen_ns);

/* Of that CPU: from the first share to the end, and ns of all who ran there. */
const struct share *cpu_shares_of(const struct cpu_shares *s, int cpu, const struct share **end);
int64_t cpu_shares_sum(const struct cpu_shares *s, int cpu);

typedef void (*share_fn)(void *context, uint64_t key, int64_t ns, int64_t stolen_ns);
/* stolen_ns: as large a part of what was stolen of the CPU as he ran there, of those who did. */
void cpu_shares_each(const struct cpu_shares *s, share_fn fn, void *context);

#endif
