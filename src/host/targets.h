/* SPDX-License-Identifier: GPL-2.0-only */
/* The processes that were asked for with -p or `track`: their identity, and which of them have exited. */
#ifndef HOG_HOST_TARGETS_H
#define HOG_HOST_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

struct target {
    uint32_t pid;
    uint64_t start_ns; /* CLOCK_BOOTTIME, to 10 ms */
    int stat;          /* its /proc/PID/stat, where there is no pidfd; else -1 */
    bool exited;       /* since the last targets_drop() */
};

struct targets {
    struct target *list; /* by pid */
    size_t n;
    struct pollfd *polls; /* pidfds, in the same order; -1: watched by `stat` */
    /* Set by the owner: PIDs are not those of our own PID namespace; not those of the initial one. */
    bool foreign, inside;
};

/* Adds a process. -ESRCH: there is none; -EINVAL: the number is a thread's; both with a reason. */
int targets_add(struct targets *targets, uint32_t pid, struct error *why);

/* Marks those that have exited by now; returns how many. One system call, and one for each without pidfd. */
size_t targets_poll(struct targets *targets);

/* Forgets those marked. */
void targets_drop(struct targets *targets);
void targets_free(struct targets *targets);

/* The target that the key is of, NULL if of none: the same process, not a later one with its PID. */
const struct target *targets_find(const struct targets *targets, uint64_t key);

#endif
