/* SPDX-License-Identifier: GPL-2.0-only */
/* Loads bpf/faults.bpf.c. */
#ifndef HOG_SOURCE_FAULTS_LOAD_H
#define HOG_SOURCE_FAULTS_LOAD_H

#include "source/shared/collector.h"

struct faults_load {
    struct collector collector;
    bool timed;      /* fault begins are recorded */
    bool swap_known; /* swap-ins can be told apart */
    bool by_events;  /* fault ends are perf events, one per CPU */
    const char *programs[2];
    uint8_t *online; /* CPUs with those events */
};

extern const struct hook_ways faults_ways[];

int faults_load(struct faults_load *load, const struct source_context *context,
                struct hook_report hooks[MAX_HOOKS], struct error *why);

/* Adds events on CPUs that came online. Called about once a second. */
void faults_load_follow(struct faults_load *load);

/* Ends as perf events: how many the kernel raised since the start, including those for which it ran no
 * program because another program or a map update held the CPU. Ends as fexit: how often it skipped the
 * program for the same reason (5.12). One system call per event. */
uint64_t faults_load_raised(const struct faults_load *load);
uint64_t faults_load_missed(const struct faults_load *load);
void faults_unload(struct faults_load *load);

#endif
