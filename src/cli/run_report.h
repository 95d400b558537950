/* SPDX-License-Identifier: GPL-2.0-only */
/* hog report FILE, hog diff BEFORE AFTER */
#ifndef HOG_CLI_RUN_REPORT_H
#define HOG_CLI_RUN_REPORT_H

#include "base/status.h"
#include "cli/options.h"

enum status run_report(const struct options *options);
enum status run_diff(const struct options *options);

#endif
