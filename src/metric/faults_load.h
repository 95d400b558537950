/* SPDX-License-Identifier: GPL-2.0-only */
/* Getting bpf/faults.bpf.c into the kernel. */
#ifndef HOG_METRIC_FAULTS_LOAD_H
#define HOG_METRIC_FAULTS_LOAD_H

#include "metric/side.h"

struct faults_load {
    struct side side;
    bool timed;      /* begins are noted */
    bool swap_known; /* which faults read from swap */
    bool by_events;  /* ends are perf events, which each CPU needs */
    const char *programs[2];
    uint8_t *online; /* CPUs that have them */
};

extern const struct hook_ways faults_ways[];

int faults_load(struct faults_load *load, const struct metric_context *context,
                struct hook_report hooks[MAX_HOOKS], struct why *w);

/* CPUs that came online since get their events. Called now and then. */
void faults_load_follow(struct faults_load *load);
void faults_unload(struct faults_load *load);

#endif
