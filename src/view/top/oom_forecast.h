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

/* The limit that is reached first. */
struct oom_end {
    struct cgroup_name path;        /* path of the cgroup; empty: the host */
    uint64_t limit, used, headroom; /* bytes; `used` excludes reclaimable memory */
    struct growth_rate rate;        /* growth of `used` */
    double seconds;                 /* -1: not reached */
};

/* span_s: span over which growth is measured. NULL: out of memory. */
struct oom_forecast *oom_forecast_open(double span_s);
void oom_forecast_close(struct oom_forecast *o);

/* Called once per window after the join: sets the forecast of each growing process. */
void oom_forecast_update(struct oom_forecast *o, struct top *top);

/* The host's limit; and the one that a process reaches first. */
const struct memory *oom_forecast_memory(const struct oom_forecast *o);
void oom_forecast_of_host(const struct oom_forecast *o, struct oom_end *out);
void oom_forecast_nearest(const struct oom_forecast *o, const struct top *top,
                          const struct judged_process *process, struct oom_end *out);

#endif
