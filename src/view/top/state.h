/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the files of the view `top`: its sources, and the joined table. */
#ifndef HOG_VIEW_TOP_STATE_H
#define HOG_VIEW_TOP_STATE_H

#include "base/hash_table.h"
#include "out/out.h"
#include "host/cgroup.h"
#include "host/memory.h"
#include "host/oom_kills.h"
#include "host/pressure.h"
#include "host/targets.h"
#include "source/disks/disks.h"
#include "source/power/meter.h"
#include "source/stacks/merged.h"
#include "source/sched/sched.h"
#include "view/top/process_table.h"
#include "source/tasks/tasks.h"
#include "source/sched/waits.h"

struct families;
struct family;
struct oom_forecast;
struct heaviest_pairs;

/* Pressure of the host, and of the most affected cgroup among those of the rows; percent, < 0: unknown. */
struct top_pressure {
    struct pressures files;
    struct pressure before[PRESSURES], now[PRESSURES];
    double some[PRESSURES], full[PRESSURES];
    struct cgroup_name group; /* empty: pressure of cgroups is unknown */
    double group_some[PRESSURES];
};

struct top {
    const struct source_context *context;
    struct sched *sched;
    struct tasks *tasks;               /* NULL: not available */
    struct disks *disks;               /* the same */
    struct meter *meter;               /* the same */
    struct stacks *stacks;             /* of hog why alone; or NULL */
    struct merged_stacks functions;    /* of the window, from these */
    struct cgroups *cgroups;           /* the same */
    struct oom_forecast *oom_forecast; /* of memory */
    struct oom_kills oom_kills;
    struct oom_kill oom_killed; /* the last in the window, */
    unsigned oom_killed_count;  /* of so many */
    struct families *families;  /* NULL until something needs them */
    struct hash_table ended;    /* see kin.c, as what follows: ended processes and their parents */
    double orphans, adopted;    /* ns of those without and with a known parent */
    uint64_t kin_found;         /* end of the window that is divided into families */
    struct top_pressure pressures;
    struct process_table process_table;
    struct judged_process **ranked; /* processes with a row */
    size_t nranked;
    /* Of each row: which tasks had the CPU, or (a noisy neighbour) waited for it. */
    struct heaviest_pairs *heaviest;
    uint64_t now;    /* end of the window, CLOCK_MONOTONIC */
    uint64_t looked; /* when the last snapshot of tasks was taken */
    bool alert;      /* the window meets --alert */
};

/* ---- join.c: one table of all processes ---- */

/* Baseline of the first window. */
void top_begin(struct top *top);

/* Joins the sources' data of a window of `span` ns. */
int top_join(struct top *top, double span);

/* The cgroups of a process (with -t: of the thread's process); NULL: unknown. */
const struct cgroup *top_group(const struct top *top, uint64_t key);

/* ---- rank.c: which processes are shown ---- */

void top_rank(struct top *top);

/* ---- pressure.c: PSI ---- */

void top_pressure(struct top *top, uint64_t window_ns); /* after ranking */
size_t top_pressure_fields(const struct top *top, struct field *fields, size_t n);

/* ---- culprit.c: what causes a verdict ---- */

#define CULPRIT      192
#define CULPRIT_NAME 80
struct culprit {
    char text[CULPRIT];
    size_t length; /* 0: none */
};
void culprit_of(const struct top *top, const struct judged_process *process, struct culprit *culprit);

/* Finds the heaviest pairs of each row for culprit_of() in one pass over all pairs, after ranking. */
#define HEAVIEST_PAIRS 6
struct heaviest_pairs {
    const struct pair *pairs[HEAVIEST_PAIRS];
    size_t n;
    /* Of a starved row: which families had its CPU. */
    struct family_time {
        const struct family *family;
        double ns;
    } families[HEAVIEST_PAIRS];
    double all, unknown; /* ns: of all pairs, and of those with ended processes of unknown parents */
};

void culprits_find(struct top *top);

/* Pairs of a victim or an aggressor, heaviest first; returns how many of `most` it wrote. */
size_t culprit_pairs(const struct top *top, uint64_t victim, uint64_t aggressor, const struct pair **pairs,
                     size_t most);

/* "4711/stress-ng", or "[steal]". */
void culprit_name(const struct top *top, uint64_t key, char *to, size_t size);

/* ---- why.c: the numbers behind a verdict ---- */

void top_why(const struct top *top, const struct judged_process *process, struct out *out);

#endif
