/* SPDX-License-Identifier: GPL-2.0-only */
/* Getting bpf/cpu.bpf.c into the kernel. */
#ifndef HOG_METRIC_ONCPU_LOAD_H
#define HOG_METRIC_ONCPU_LOAD_H

#include "metric/side.h"

/* The note of a CPU that has not reported yet: nobody knows who is on it. */
#define KEY_UNSEEN UINT64_MAX

extern const struct hook_ways oncpu_ways[];

int oncpu_load(struct side *side, const struct metric_context *context, struct hook_report hooks[MAX_HOOKS],
               struct why *w);

#endif
