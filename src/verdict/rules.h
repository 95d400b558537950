/* SPDX-License-Identifier: GPL-2.0-only */
/* Judges a process by what it did with its time. Pure arithmetic: nothing here asks the host. */
#ifndef HOG_VERDICT_RULES_H
#define HOG_VERDICT_RULES_H

#include <stdbool.h>
#include "verdict/thresholds.h"
#include "verdict/verdict.h"

/* Where the time of a process went, of all its threads together: more than the span when it has several. In
 * ns, but for the last. */
struct times {
    double span;             /* that all this is about */
    double run;              /* on a CPU */
    double wait;             /* runnable while another task ran */
    double own_wait;         /* of that, while another thread of its own ran */
    double stolen;           /* runnable while the hypervisor or an interrupt had its CPU */
    double throttled;        /* runnable while the quota of its group was used up */
    double io, memory, lock; /* asleep for a disk, for memory, for a lock */
    double blocked;          /* asleep for what does not answer: a dead server, a frozen file system */
    double caused;           /* time that others waited for a CPU because of it */
    double busiest;          /* the most that it, or one thread of it, had of one CPU */
    double majors;           /* its major faults, a count */
};

/* When memory ends, if all goes on as it does. */
struct outlook {
    bool known;
    double seconds;   /* until then */
    double share_pct; /* of the growth that is this process's */
};

/* A rule and what came of it. `limit` is the threshold. */
struct finding {
    enum verdict verdict;
    enum threshold threshold;
    double value, limit;
    bool known, holds;
    const char *what; /* what value is, one line */
};
#define RULES 9

struct judgement {
    enum verdict verdict;
    double active;      /* ns that it was not idle */
    bool largest_share; /* no rule holds, but it was busy: the verdict is that of its largest share */
    struct finding findings[RULES];
};

void judge(const struct times *times, const struct outlook *outlook, const struct thresholds *thresholds,
           struct judgement *judgement);

/* How much it hurts or is hurt, in percent of the span: the CPU that it takes, the time for which it makes
 * others wait, and the time that it loses itself. */
double score(const struct times *times);

#endif
