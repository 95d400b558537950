/* SPDX-License-Identifier: GPL-2.0-only */
/* Loads bpf/pin_faults.bpf.c for pinning. */
#ifndef HOG_SOURCE_FAULTS_PINNED_H
#define HOG_SOURCE_FAULTS_PINNED_H

#include "source/shared/collector.h"

int pinned_faults_load(struct collector *collector, const struct source_context *context,
                       struct hook_report hooks[MAX_HOOKS], struct error *why);

#endif
