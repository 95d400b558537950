/* SPDX-License-Identifier: GPL-2.0-only */
/* Which trouble a process is in: the words of the column `verdict` and of --alert. */
#ifndef HOG_VERDICT_VERDICT_H
#define HOG_VERDICT_VERDICT_H

enum verdict {
    VERDICT_IDLE,           /* asked for nothing */
    VERDICT_OK,             /* had what it asked for */
    VERDICT_CPU_BOUND,      /* runs nearly whenever it is runnable */
    VERDICT_STARVED,        /* runnable, but something else has its CPU */
    VERDICT_THROTTLED,      /* its group's CPU quota is used up */
    VERDICT_IO_BOUND,       /* blocked on a disk */
    VERDICT_THRASHING,      /* page faults and reclaim eat its time */
    VERDICT_OOM_RISK,       /* grows, and its memory ends soon */
    VERDICT_LOCK_BOUND,     /* blocked on locks */
    VERDICT_BLOCKED,        /* cannot go on: what it waits for does not answer */
    VERDICT_NOISY_NEIGHBOR, /* makes others wait */
    VERDICTS
};
/* Those before it need no action. */
#define VERDICT_FIRST_TROUBLE VERDICT_CPU_BOUND

extern const char *const verdict_names[VERDICTS + 1]; /* ends with NULL */

#endif
