/* SPDX-License-Identifier: GPL-2.0-only */
/* --with self: the CPU time and memory of hog itself in each window. */
#ifndef HOG_CLI_SELF_H
#define HOG_CLI_SELF_H

#include "view/view.h"

struct self {
    int stats_fd; /* keeps BPF_STATS_RUN_TIME enabled; < 0: not available */
    uint64_t cpu_ns;
    struct program_cost cost;
};

void self_open(struct self *self);
void self_note(struct self *self, struct out *out, uint64_t window_ns, const struct program_cost *cost);
void self_close(struct self *self);

#endif
