/* SPDX-License-Identifier: GPL-2.0-only */
/* The options of the view top: verdicts. Their values are in struct run_options, as they change how a run
 * ends. */
#ifndef HOG_VIEW_TOP_OPTIONS_H
#define HOG_VIEW_TOP_OPTIONS_H

#include "view/view.h"

extern const struct option_spec top_options[];

#endif
