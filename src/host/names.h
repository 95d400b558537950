/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of processes and threads by key (PID, TID and start time, see hog_key_layout in bpf/sched.bpf.c),
 * from /proc, kept for half a second: at windows of 10 ms asking anew for each row would cost more than all
 * the rest. */
#ifndef HOG_HOST_NAMES_H
#define HOG_HOST_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "host/process.h"

struct name {
    char comm[PROCESS_COMM];
    size_t comm_length; /* 0: not known */
    uint32_t uid;
    bool uid_known;
    /* Only of exited tasks: */
    uint64_t cgroup;    /* its id in version 2; 0: not known */
    uint64_t cgroup_v1; /* of version 1, as cgroup_ids_path() takes it; 0: not known */
    uint64_t parent;    /* key of that process; 0: not known */
    bool kernel;        /* a kernel thread, as /proc said or its end did */
};

/* All processes outside of our PID namespace together. */
extern const struct name name_outside;

uint32_t key_process(uint64_t key);
uint32_t key_thread(uint64_t key); /* 0: the process */
uint64_t key_make(uint32_t process, uint32_t thread, uint64_t start_boottime_ns);

/* Whether a key's birth can be that of a process that started at start_ns (known to 10 ms). A key without a
 * birth fits any. */
bool key_born_at(uint64_t key, uint64_t start_ns);

struct names;
struct pidns;
/* pidns (outlives the names): /proc is read only if keys hold PIDs of its namespace. NULL: no memory. */
struct names *names_open(const struct pidns *pidns);
void names_close(struct names *names);

/* Called where /proc does not know the key's owner (any more): fills in what else is known. */
typedef bool (*names_of_dead)(void *context, uint64_t key, struct name *name);

/* now: CLOCK_MONOTONIC ns. The result is valid until the next call. */
const struct name *names_find(struct names *names, uint64_t key, uint64_t now, names_of_dead dead,
                              void *context);

/* The last result of names_find() for this key; NULL: none. */
const struct name *names_told(const struct names *names, uint64_t key);

#endif
