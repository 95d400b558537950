/* SPDX-License-Identifier: GPL-2.0-only */
/* The stints that are running at a turn: they have had no switch yet, so the reader credits them with what
 * they got until then, and takes it back when they have ended. */
#ifndef HOG_METRIC_ONCPU_RUNNING_H
#define HOG_METRIC_ONCPU_RUNNING_H

#include "metric/oncpu_load.h"
#include "metric/oncpu_sums.h"

struct running;

/* -ENOMEM, or CPUS_ONLINE cannot be read. Close what there is in *out then, too. */
int running_open(struct running **out, const struct metric_context *context,
                 const struct oncpu_kernel *kernel, struct why *w);
/* After a turn, before any CPU's. */
int running_begin(struct running *r, struct why *w);
/* Credits who ran on the CPU at the turn, `now`. missed: ns that the window's switches there did not name
 * anybody for. */
void running_credit(struct running *r, struct oncpu_sums *sums, int cpu, uint64_t now, int64_t missed);
/* Whom it was the last time, and what he got. */
uint64_t running_on(const struct running *r, int cpu, int64_t *ns);
const uint8_t *running_online(const struct running *r); /* of each CPU */
void running_close(struct running *r);                  /* NULL is fine */

#endif
