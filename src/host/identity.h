/* SPDX-License-Identifier: GPL-2.0-only */
/* The identity of a process beyond PID and name: user, control group and container, parent, command line.
 * From /proc, cached per process for half a second, and after its exit for as long as it is asked for. */
#ifndef HOG_HOST_IDENTITY_H
#define HOG_HOST_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "host/container.h"

/* What is read; the rest is not known. */
enum identity_part {
    IDENTITY_USER = 1,
    IDENTITY_GROUP = 2, /* and container, and pod */
    IDENTITY_PARENT = 4,
    IDENTITY_ARGS = 8,
};

#define IDENTITY_ARGS_MOST 1024 /* of a command line; the rest is cut */
#define IDENTITY_COMM      16

/* Of several hierarchies that path which names a container, or else version 2's if it is not the root, or
 * else the one that says most. */
struct identity_group {
    struct container container;
    const char *pod; /* NAMESPACE/NAME, or the UID where that is not known; NULL: no pod */
    size_t length;
    char path[]; /* as /proc/PID/cgroup has it; not terminated */
};

struct identity {
    bool uid_known, parent_known;
    uint32_t uid; /* effective */
    uint32_t parent;
    uint64_t parent_start; /* distinguishes it from a later process with the same PID */
    char parent_comm[IDENTITY_COMM];
    size_t parent_comm_length;
    bool parent_leads;                  /* its session */
    const struct identity_group *group; /* NULL: not known */
    const char *args;                   /* with blanks between, terminated; NULL: not known or none */
};

struct identities;

/* parts: of enum identity_part. NULL: no memory. */
struct identities *identities_open(unsigned parts);
void identities_close(struct identities *identities);

/* Reads all processes, so that those that exit soon are known. */
void identities_prime(struct identities *identities, uint64_t now);

/* Where the ends of processes are noted: names_told() is asked about those that /proc does not know. */
struct names;
void identities_of_dead(struct identities *identities, const struct names *names);

/* A new window: earlier results are no longer valid. */
void identities_begin(struct identities *identities);

/* key: of a process or a thread (bpf/lib/task_key.bpf.h), with PIDs of /proc. now: CLOCK_MONOTONIC ns. False:
 * nothing is known. Valid until the next identities_begin(). */
bool identity_of(struct identities *identities, uint64_t key, uint64_t now, struct identity *identity);

/* The path in the text of /proc/PID/cgroup that best identifies the process. False: there is none. */
bool identity_path(const char *text, const char **path, size_t *length, struct container *container);

#endif
