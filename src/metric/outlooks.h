/* SPDX-License-Identifier: GPL-2.0-only */
/* When memory ends for whom: that of the host, and that of each control group with a limit in which somebody
 * grows. */
#ifndef HOG_METRIC_OUTLOOKS_H
#define HOG_METRIC_OUTLOOKS_H

#include <stddef.h>
#include "host/cgroup.h"
#include "host/memory.h"
#include "verdict/growth.h"

struct top;
struct subject;

/* What ends. */
struct outlook_of {
    struct cgroup_name path;        /* of the group; none: the host */
    uint64_t limit, used, headroom; /* bytes; `used` cannot be reclaimed */
    struct growth_rate rate;        /* of what is used */
    double seconds;                 /* -1: it does not end */
};

/* span_s: that growth is looked at over. NULL: no memory. */
struct outlooks *outlooks_open(double span_s);
void outlooks_close(struct outlooks *o);

/* Once a window, when the subjects are joined: gives each that grows its outlook. */
void outlooks_update(struct outlooks *o, struct top *top);

/* Of the host; and what ends first for a subject. */
const struct memory *outlooks_memory(const struct outlooks *o);
void outlooks_of_host(const struct outlooks *o, struct outlook_of *out);
void outlooks_nearest(const struct outlooks *o, const struct top *top, const struct subject *subject,
                      struct outlook_of *out);

#endif
