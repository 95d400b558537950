/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of the view `top` share: the sources of its numbers, and what they were joined to. */
#ifndef HOG_VIEW_TOP_STATE_H
#define HOG_VIEW_TOP_STATE_H

#include "out/out.h"
#include "host/cgroup.h"
#include "host/memory.h"
#include "host/pressure.h"
#include "host/targets.h"
#include "source/disks/disks.h"
#include "source/power/meter.h"
#include "source/sched/sched.h"
#include "view/top/process_table.h"
#include "source/tasks/tasks.h"
#include "source/sched/waits.h"

struct oom_forecast;
struct heaviest_pairs;

/* Pressure of the host, and of that group of the processes shown which has most of it; percent, < 0: not
 * known. */
struct top_pressure {
    struct pressures files;
    struct pressure before[PRESSURES], now[PRESSURES];
    double some[PRESSURES], full[PRESSURES];
    struct cgroup_name group; /* none: no pressure of groups is known */
    double group_some[PRESSURES];
};

struct top {
    const struct source_context *context;
    struct sched *sched;
    struct tasks *tasks;               /* NULL: cannot be had */
    struct disks *disks;               /* the same */
    struct meter *meter;               /* the same */
    struct cgroups *cgroups;           /* the same */
    struct oom_forecast *oom_forecast; /* of memory */
    struct top_pressure pressures;
    struct process_table process_table;
    struct judged_process **ranked; /* those that are shown */
    size_t nranked;
    /* Of each row: which tasks had the CPU, or (a noisy neighbour) waited for it. */
    struct heaviest_pairs *heaviest;
    uint64_t now;    /* end of the window, CLOCK_MONOTONIC */
    uint64_t looked; /* when the last snapshot of tasks was taken */
    bool alert;      /* the window has what --alert asks for */
};

/* ---- join.c: one table of all processes ---- */

/* What the first window is compared with. */
void top_begin(struct top *top);

/* Joins what the sources collected in a window of `span` ns. */
int top_join(struct top *top, double span);

/* The control groups of a process (with -t: of a thread's process); NULL: not known. */
const struct cgroup *top_group(const struct top *top, uint64_t key);

/* ---- rank.c: which processes are shown ---- */

void top_rank(struct top *top);

/* ---- pressure.c: PSI ---- */

void top_pressure(struct top *top, uint64_t window_ns); /* once the rows are known */
size_t top_pressure_fields(const struct top *top, struct field *fields, size_t n);

/* ---- culprit.c: what causes a verdict ---- */

#define CULPRIT      192
#define CULPRIT_NAME 80
struct culprit {
    char text[CULPRIT];
    size_t length; /* 0: none */
};
void culprit_of(const struct top *top, const struct judged_process *process, struct culprit *culprit);

/* The heaviest pairs of each row, for culprit_of(): one walk over all pairs once the rows are known. */
#define HEAVIEST_PAIRS 6
struct heaviest_pairs {
    const struct pair *pairs[HEAVIEST_PAIRS];
    size_t n;
};
void culprits_find(struct top *top);

/* Pairs of a victim, or of an aggressor, the heaviest first; returns how many of `most` it wrote. */
size_t culprit_pairs(const struct top *top, uint64_t victim, uint64_t aggressor, const struct pair **pairs,
                     size_t most);

/* "4711/stress-ng", or "[steal]". */
void culprit_name(const struct top *top, uint64_t key, char *to, size_t size);

/* ---- why.c: the numbers behind a verdict ---- */

void top_why(const struct top *top, const struct judged_process *process, struct out *out);

#endif
