/* SPDX-License-Identifier: GPL-2.0-only */
/* tracefs: ids of tracepoints, and probes by name where the perf PMUs are missing. */
#ifndef HOG_LOADER_KERNEL_TRACEFS_H
#define HOG_LOADER_KERNEL_TRACEFS_H

#include <stdbool.h>
#include "loader/kernel/link.h"

/* Directory fd of tracefs: where it is mounted, else a mount of our own that is attached nowhere and ends
 * with the fd. */
int tracefs_open(struct error *why);

/* The same, but only where it is mounted already, and *place: -ENOENT, or -EACCES where it may be and is
 * closed to us. */
int tracefs_open_mounted(const char **place);

/* Id of "category/name" for perf_event_attr.config. */
int tracefs_event_id(const char *event, struct error *why);

/* Defines a probe under a name of this process and puts that into link->tracefs_event. `what` is
 * "SYMBOL+OFFSET" or "PATH:OFFSET". Also removes probes that hog processes left that were killed. */
int tracefs_add_probe(struct link *link, const char *what, bool uprobe, bool at_return, struct error *why);
void tracefs_remove_probe(const char *event, bool uprobe);

#endif
