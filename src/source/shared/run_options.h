/* SPDX-License-Identifier: GPL-2.0-only */
/* What the command line asks of every source and view. What it asks of one of them is in a struct of its own.
 */
#ifndef HOG_SOURCE_SHARED_RUN_OPTIONS_H
#define HOG_SOURCE_SHARED_RUN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include "host/filter.h"

#define MAX_PIDS 1024

struct thresholds;

struct run_options {
    unsigned top;        /* rows, 1..10000; default 10 */
    bool threads;        /* a row for each thread, not process */
    bool exact;          /* hash maps instead of sketches */
    unsigned stages;     /* 1..8; 0: the source's default */
    unsigned slots;      /* a power of two, 8..1024, for each stage and CPU; 0: the source's default */
    bool no_kernel;      /* no rows of kernel threads */
    bool records;        /* rows go to a recording */
    bool lines;          /* rows are lines, on a terminal too */
    bool narrow;         /* rows of text without -w: lists of words are short */
    bool verbose;        /* which hooks are used, and which files are skipped, on stderr */
    bool explain;        /* the numbers behind each verdict */
    bool prose;          /* these in sentences, in place of rows */
    const char *subject; /* what `hog why` is about, as it was asked for; NULL: all */
    uint32_t alert;      /* bit 1 << enum verdict: a window that shows it ends the run; 0: none does */
    unsigned alert_for;  /* after this many such windows in a row, 1.. */
    uint64_t handoff_ns; /* the threshold of that name */
    const struct thresholds *thresholds; /* verdict/thresholds.h */
    struct filter_options filters;
    const char *pinned;  /* the directory of pinned maps to read; or NULL */
    const char *without; /* comma list of hooks to pass over (hidden, for tests) */
    const char *sysfs;   /* prefix of /sys where sensors are searched (hidden, for tests) */
    const char *btf;     /* BTF file to read instead of the kernel's (hidden, for tests) */
};

#endif
