/* SPDX-License-Identifier: GPL-2.0-only */
/* `hog doctor`: what this host allows, which hook each view would use, and why not a better one. It
 * measures nothing. */
#ifndef HOG_CLI_DOCTOR_H
#define HOG_CLI_DOCTOR_H

#include "cli/options.h"
#include "base/status.h"

enum status doctor(const struct options *options);

#endif
