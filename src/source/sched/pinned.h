/* SPDX-License-Identifier: GPL-2.0-only */
/* Pinned on-CPU time, for any number of readers: the kernel side is bpf/pin_cpu.bpf.c. */
#ifndef HOG_SOURCE_SCHED_PINNED_H
#define HOG_SOURCE_SCHED_PINNED_H

#include "source/sched/sched.h"

struct pinned_cpu;

int pinned_cpu_load(struct collector *collector, const struct source_context *context,
                    struct hook_report hooks[MAX_HOOKS], struct error *why);

extern const struct source pinned_cpu_source;

/* The session's; NULL: it is not open. */
struct pinned_cpu *pinned_cpu_of(const struct source_context *context);

const struct tally *pinned_cpu_tally(const struct pinned_cpu *p); /* ns and switches by key */
const struct sched_totals *pinned_cpu_totals(const struct pinned_cpu *p);
const struct name *pinned_cpu_name(struct pinned_cpu *p, uint64_t key, uint64_t now);

#endif
