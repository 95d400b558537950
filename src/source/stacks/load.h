/* SPDX-License-Identifier: GPL-2.0-only */
/* The programs of bpf/stacks.bpf.c in the kernel, and what they share with user space. */
#ifndef HOG_SOURCE_STACKS_LOAD_H
#define HOG_SOURCE_STACKS_LOAD_H

#include "loader/kernel/ring.h"
#include "source/shared/collector.h"

struct hog_stack_lost;

enum stacks_needs {
    STACKS_ON_CPU = 1,
    STACKS_ASLEEP = 2,
    STACKS_OF_SUBJECT = 4, /* both, if the run is about some processes: hog why */
};

/* Of the command line. */
extern struct stacks_options {
    unsigned rate; /* samples a second and CPU; 0: the default */
} stacks_options;

struct stacks_kernel {
    struct collector collector;
    struct ring_buffer *news; /* processes that have a stack for the first time */
    const struct object_map *sums[2], *frames, *late;
    volatile void *times;
    volatile uint32_t *flip_word, *settled, *generation;
    volatile struct hog_stack_lost *lost;
    uint32_t flip;
    uint64_t sample_ns; /* 0: there are no samples, */
    struct error no_samples;
    uint8_t *online; /* CPUs that are sampled */
    int cpus;
    int sleepers; /* link of the iterator; -1: sleeps are not measured */
};

extern const struct hook_ways stacks_ways[];

int stacks_kernel_open(struct stacks_kernel *k, const struct source_context *context, unsigned needs,
                       struct hook_report hooks[MAX_HOOKS], struct error *why);
void stacks_kernel_close(struct stacks_kernel *k);

/* Samples CPUs that came online. */
void stacks_kernel_follow(struct stacks_kernel *k);

/* Sums go to the other bank from now on. Returns the time, by the programs' clock. */
uint64_t stacks_kernel_flip(struct stacks_kernel *k);
/* The sleepers of the last flip have been read. */
void stacks_kernel_settled(const struct stacks_kernel *k);
/* Frames are deleted: no program relies on having seen a stack before. */
void stacks_kernel_forget(const struct stacks_kernel *k);
void stacks_kernel_lost(const struct stacks_kernel *k, struct hog_stack_lost *lost); /* since the start */

#endif
