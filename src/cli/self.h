/* SPDX-License-Identifier: GPL-2.0-only */
/* What hog itself costs, a window: --self. */
#ifndef HOG_CLI_SELF_H
#define HOG_CLI_SELF_H

#include "view/view.h"

struct self {
    int stats_fd; /* keeps the kernel's statistics of BPF programs on; < 0: they cannot be had */
    uint64_t cpu_ns;
    struct program_cost cost;
};

void self_open(struct self *self);
void self_note(struct self *self, struct out *out, uint64_t window_ns, const struct program_cost *cost);
void self_close(struct self *self);

#endif
