/* SPDX-License-Identifier: GPL-2.0-only */
/* Whether this kernel supports uprobes: tries one on hog itself, where it never fires. */
#ifndef HOG_SOURCE_SHARED_SELF_PROBE_H
#define HOG_SOURCE_SHARED_SELF_PROBE_H

#include "loader/kernel/attach.h"

/* at_once: by a multi-uprobe link with a cookie (0); else a single uprobe. -errno with a reason. The caller
 * keeps the link until the end: the kernel takes tens of milliseconds to remove a probe, and as long again to
 * set the next one. */
int self_probe(struct link *link, const struct object_program *program, bool at_once, struct error *why);

#endif
