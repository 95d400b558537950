/* SPDX-License-Identifier: GPL-2.0-only */
/* Where tasks spend their time, by call stack: on CPUs by samples, asleep by the switches, from the programs
 * of bpf/stacks.bpf.c. */
#ifndef HOG_SOURCE_STACKS_STACKS_H
#define HOG_SOURCE_STACKS_STACKS_H

#include "host/names.h"
#include "source/shared/source.h"
#include "source/stacks/kind.h"
#include "source/stacks/load.h"

extern const struct source stacks_source;

struct stacks;

/* A stack of a task in a window. */
struct stack {
    uint64_t task; /* key as in rows */
    uint64_t count, ns;
    enum stack_kind kind;
    const struct stack_frames *kernel, *user; /* NULL: there is none, or it was lost */
    uint64_t image;                           /* of the user stack; 0: none */
    int call;                                 /* number of the system call in which it sleeps; -1: none */
};

/* The session's instance; NULL: not open. */
struct stacks *stacks_of(const struct source_context *context);

/* The stacks of the window: valid until the next one. */
const struct stack *stacks_list(const struct stacks *s, size_t *n);

/* Nanoseconds that a sample stands for; 0: there are none, and the reason. */
uint64_t stacks_sample_ns(const struct stacks *s, const char **why);

/* Samples and sleeps without frames, as these found no room. */
uint64_t stacks_incomplete(const struct stacks *s);

const struct name *stacks_name(struct stacks *s, uint64_t key, uint64_t now);

/* The names of functions: of the kernel, and of the files and JITs of processes. */
struct symbols *stacks_symbols(struct stacks *s);

#endif
