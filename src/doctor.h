/* SPDX-License-Identifier: GPL-2.0-only */
/* `hog doctor`: what this host allows, which hook each view would use, and why not a better one. Measures
 * nothing. */
#ifndef HOG_DOCTOR_H
#define HOG_DOCTOR_H

#include "options.h"
#include "status.h"

enum status doctor(const struct options *options);

#endif
