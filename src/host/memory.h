/* SPDX-License-Identifier: GPL-2.0-only */
/* How much memory the host can still give before it has to kill. */
#ifndef HOG_HOST_MEMORY_H
#define HOG_HOST_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* All in bytes.
 *
 * headroom = available + what swap still takes. The commit limit has no part in it: it bounds what processes
 * have asked for, not what they use, and where it is enforced (vm.overcommit_memory=2) asking fails and
 * no process is killed. Swap that is compressed in memory (zram) takes pages and needs memory for that: of
 * its free part only what it saves is counted. */
struct memory {
    bool known;
    uint64_t total, available; /* the kernel's MemAvailable */
    uint64_t swap_total, swap_free, swap_used;
    uint64_t headroom;
    bool groups_swap; /* vm.swappiness is not 0: a control group at its limit may swap */
    uint64_t read_ns; /* when this was read */
};

struct memory_source;
/* root: in front of /proc and /sys; "" but for tests. NULL: no memory. */
struct memory_source *memory_open(const char *root);
void memory_close(struct memory_source *source);

/* now_ns: CLOCK_MONOTONIC. Read anew a quarter of a second after the last time: to count a host's pages takes
 * the kernel as long as ten events. */
const struct memory *memory_read(struct memory_source *source, uint64_t now_ns);

#endif
