/* SPDX-License-Identifier: GPL-2.0-only */
/* Getting bpf/faults.bpf.c into the kernel. */
#ifndef HOG_SOURCE_FAULTS_LOAD_H
#define HOG_SOURCE_FAULTS_LOAD_H

#include "source/shared/collector.h"

struct faults_load {
    struct collector collector;
    bool timed;      /* begins are noted */
    bool swap_known; /* which faults read from swap */
    bool by_events;  /* ends are perf events, which each CPU needs */
    const char *programs[2];
    uint8_t *online; /* CPUs that have them */
};

extern const struct hook_ways faults_ways[];

int faults_load(struct faults_load *load, const struct source_context *context,
                struct hook_report hooks[MAX_HOOKS], struct error *why);

/* CPUs that came online since get their events. Called now and then. */
void faults_load_follow(struct faults_load *load);

/* Where ends are events: how many the kernel raised, ever. It runs no program for one that comes while
 * another program or a change of a map holds the CPU. Where they are fexit: how often it did not run the
 * program, for the same reason (5.12). A system call an event. */
uint64_t faults_load_raised(const struct faults_load *load);
uint64_t faults_load_missed(const struct faults_load *load);
void faults_unload(struct faults_load *load);

#endif
