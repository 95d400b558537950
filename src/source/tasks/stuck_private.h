/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the files that look for stuck threads. */
#ifndef HOG_SOURCE_TASKS_STUCK_PRIVATE_H
#define HOG_SOURCE_TASKS_STUCK_PRIVATE_H

#include "base/hash_table.h"
#include "host/mounts.h"
#include "source/tasks/stuck.h"

#define CAUSES 64

struct stopped {
    uint64_t id; /* process */
    uint64_t snapshot;
};

struct longest {
    uint64_t id;  /* key */
    size_t place; /* 1 + number of the thread */
};

struct stuck_tasks {
    struct hash_table threads; /* struct stuck by thread */
    struct hash_table stopped; /* processes */
    struct hash_table longest; /* of each process */
    struct mounts *mounts;
    uint64_t now, snapshot;
    /* What was found by looking at the open files of all processes. */
    struct found {
        uint64_t what; /* inode, or a number of ours; 0: empty */
        uint64_t at;
        uint32_t process, but; /* but: whose other end it is */
    } found[CAUSES];
    size_t next;
};

#endif
