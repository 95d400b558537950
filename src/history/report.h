/* SPDX-License-Identifier: GPL-2.0-only */
/* hog report FILE, hog diff BEFORE AFTER: what recordings say, to stdout. */
#ifndef HOG_HISTORY_REPORT_H
#define HOG_HISTORY_REPORT_H

#include "cli/options.h"
#include "base/status.h"

enum status report(const struct options *options);
enum status report_diff(const struct options *options);

#endif
