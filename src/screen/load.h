/* SPDX-License-Identifier: GPL-2.0-only */
/* What the host has and uses: for the bars, where the window does not say it. */
#ifndef HOG_SCREEN_LOAD_H
#define HOG_SCREEN_LOAD_H

#include "host/memory.h"
#include "host/pressure.h"

struct load {
    double cpus, busy_cpus;             /* cpus 0: not known */
    uint64_t memory_used, memory_total; /* bytes; total 0: not known */
    double pressure[PRESSURES];         /* percent; -1: not known */
    /* What it is computed from. */
    struct memory_source *memory;
    struct pressures files;
    struct pressure before[PRESSURES];
    uint64_t before_ns, idle, all; /* idle, all: ticks of /proc/stat */
};

/* 0 or -ENOMEM. */
int load_open(struct load *load);
void load_close(struct load *load);

/* Windows begin now, CLOCK_MONOTONIC ns. */
void load_begin(struct load *load, uint64_t now);

/* window, totals, psi: what follows the names of these lines, or NULL; their fields have precedence. now:
 * CLOCK_MONOTONIC ns. */
void load_read(struct load *load, const char *window, const char *totals, const char *psi, uint64_t now);

#endif
