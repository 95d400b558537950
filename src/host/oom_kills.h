/* SPDX-License-Identifier: GPL-2.0-only */
/* Processes that the kernel kills for lack of memory, from its log: without a hook, at a read a window. */
#ifndef HOG_HOST_OOM_KILLS_H
#define HOG_HOST_OOM_KILLS_H

#include <stdbool.h>
#include <stdint.h>

#define OOM_COMM 32

struct oom_kill {
    uint32_t pid; /* in the initial PID namespace */
    char comm[OOM_COMM];
    uint64_t rss_kib; /* that it gave back, without page tables */
};

struct oom_kills {
    int log; /* -1: cannot be read */
};

/* What is logged from now on counts. */
void oom_kills_open(struct oom_kills *kills);
void oom_kills_close(struct oom_kills *kills);

/* How many since the last call, and the last of them. 0 if the log cannot be read. */
unsigned oom_kills_read(struct oom_kills *kills, struct oom_kill *last);

/* A record of /dev/kmsg. False: it is not about that, or not by the kernel. */
bool oom_kill_parse(const char *record, struct oom_kill *kill);

#endif
