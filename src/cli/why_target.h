/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOG_CLI_WHY_TARGET_H
#define HOG_CLI_WHY_TARGET_H

#include <stddef.h>
#include <stdint.h>

/* The processes that `target` means: a PID; else those with that name (comm, of which the kernel keeps 15
 * bytes); else those of that systemd unit, or below that path of a control group. At most `most` of them. 0,
 * or -ESRCH: there is none. Reads /proc. */
int why_target_find(const char *target, uint32_t *pids, size_t most, size_t *n);

#endif
