/* SPDX-License-Identifier: GPL-2.0-only */
/* What reports and comparisons share. */
#ifndef HOG_HISTORY_REPORT_PRIVATE_H
#define HOG_HISTORY_REPORT_PRIVATE_H

#include "history/digest.h"
#include "history/report.h"

/* Reads one of the files into what the caller has set up of `digest`. What is wrong is printed. */
enum status report_read(const struct report_options *options, unsigned which, struct digest *digest,
                        struct reader *reader);

/* The line about a recording. */
void report_note(struct out *out, const struct digest *digest, const struct reader *reader);

/* err: what out_flush() returned. */
enum status report_written(int err);

/* A name; empty: not known. */
struct cell report_name(const char *text);

#endif
