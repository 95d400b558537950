/* SPDX-License-Identifier: GPL-2.0-only */
/* hog report FILE, hog diff BEFORE AFTER: what recordings say, to stdout. */
#ifndef HOG_HISTORY_REPORT_H
#define HOG_HISTORY_REPORT_H

#include "base/status.h"
#include "out/out.h"

struct filter;

struct report_options {
    const char *files[2];        /* a report has one */
    const char *from, *to;       /* times, or NULL */
    const char *columns;         /* to rank by: a comma list; NULL: those that say so themselves */
    const char *by;              /* "process", or a column; NULL: as it was recorded */
    bool html;                   /* a page in place of lines */
    const struct filter *filter; /* rows that do not pass do not count; or NULL */
    unsigned filter_kinds;       /* of it */
    bool no_kernel;              /* no kernel threads */
    const char *chosen;          /* these options, for messages */
    unsigned top;
    enum out_format format;
    bool header;
    const struct schema *const *schemas; /* of all views; ends with NULL */
    const char *const *verdicts; /* the words of the column `verdict`; the first DIGEST_WELL: all is well */
    unsigned nverdicts;
};

enum status report(const struct report_options *options);
enum status report_diff(const struct report_options *options);

#endif
