/* SPDX-License-Identifier: GPL-2.0-only */
/* Getting bpf/file.bpf.c into the kernel. */
#ifndef HOG_METRIC_FILE_LOAD_H
#define HOG_METRIC_FILE_LOAD_H

#include "metric/side.h"

extern const struct hook_ways file_ways[];

int file_load(struct side *side, const struct metric_context *context, struct hook_report hooks[MAX_HOOKS],
              struct why *w);

/* Ends of calls for which the kernel ran no program, ever, as another one held the CPU (5.12). A system call
 * a program. */
uint64_t file_load_missed(const struct side *side);

#endif
