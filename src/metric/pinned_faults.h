/* SPDX-License-Identifier: GPL-2.0-only */
/* Getting bpf/pin_faults.bpf.c into the kernel, to be pinned. */
#ifndef HOG_METRIC_PINNED_FAULTS_H
#define HOG_METRIC_PINNED_FAULTS_H

#include "metric/side.h"

int pinned_faults_load(struct side *side, const struct metric_context *context,
                       struct hook_report hooks[MAX_HOOKS], struct why *w);

#endif
