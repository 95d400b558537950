/* SPDX-License-Identifier: GPL-2.0-only */
/* What the verdicts are judged by: a table that the options, their help and the rules share. */
#ifndef HOG_VERDICT_THRESHOLDS_H
#define HOG_VERDICT_THRESHOLDS_H

#include <stddef.h>
#include "base/error.h"
#include "base/quote.h"

enum threshold {
    STARVED_PCT,
    THROTTLED_PCT,
    IO_BOUND_PCT,
    THRASHING_PCT,
    LOCK_BOUND_PCT,
    BLOCKED_PCT,
    ACTIVE_PCT,
    CPU_BOUND_PCT,
    NOISY_PCT,
    BUSY_PCT,
    IDLE_PCT,
    OOM_SECONDS,
    OOM_SHARE_PCT,
    OOM_SPAN_S,
    FAULT_CPU_US,
    HANDOFF_US,
    SPAN_S,
    THRESHOLDS
};

struct threshold_spec {
    const char *name;
    double standard, least, most; /* with at most THRESHOLD_DECIMALS decimals */
    const char *unit;
    const char *meaning;
};
#define THRESHOLD_DECIMALS 6

extern const struct threshold_spec threshold_table[THRESHOLDS];

struct thresholds {
    double value[THRESHOLDS];
};

void thresholds_default(struct thresholds *t);

/* One NAME=VALUE, or NAME VALUE. -EINVAL with a reason, then nothing is changed. */
int thresholds_set(struct thresholds *t, const char *text, size_t length, struct error *why);

/* The text of a file: a setting a line; blank lines, and what follows a #, are passed over. What is not named
 * stays as it is. -EINVAL with a reason that begins with the line's number. */
int thresholds_parse(struct thresholds *t, const char *text, size_t length, struct error *why);

/* The same from a regular file of at most THRESHOLDS_MOST bytes. -errno with a reason that names the file. */
int thresholds_read(struct thresholds *t, const char *path, struct error *why);
#define THRESHOLDS_MOST 65536

/* As few decimals as it takes: what is printed is what was set. */
struct quoted threshold_text(double value);

#endif
