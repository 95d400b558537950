/* SPDX-License-Identifier: GPL-2.0-only */
/* Forecast: when memory runs out, that of the host and that of each control group with a limit in which a
 * process grows. */
#ifndef HOG_VIEW_TOP_OOM_FORECAST_H
#define HOG_VIEW_TOP_OOM_FORECAST_H

#include <stddef.h>
#include "host/cgroup.h"
#include "host/memory.h"
#include "verdict/growth.h"

struct top;
struct judged_process;

/* What ends. */
struct oom_end {
    struct cgroup_name path;        /* of the group; none: the host */
    uint64_t limit, used, headroom; /* bytes; `used` cannot be reclaimed */
    struct growth_rate rate;        /* of what is used */
    double seconds;                 /* -1: it does not end */
};

/* span_s: that growth is looked at over. NULL: no memory. */
struct oom_forecast *oom_forecast_open(double span_s);
void oom_forecast_close(struct oom_forecast *o);

/* Once a window, when the subjects are joined: gives each that grows its outlook. */
void oom_forecast_update(struct oom_forecast *o, struct top *top);

/* Of the host; and what ends first for a subject. */
const struct memory *oom_forecast_memory(const struct oom_forecast *o);
void oom_forecast_of_host(const struct oom_forecast *o, struct oom_end *out);
void oom_forecast_nearest(const struct oom_forecast *o, const struct top *top,
                          const struct judged_process *process, struct oom_end *out);

#endif
