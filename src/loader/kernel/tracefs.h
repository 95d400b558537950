/* SPDX-License-Identifier: GPL-2.0-only */
/* tracefs: what it says about classic tracepoints. Events are "category/name". */
#ifndef HOG_LOADER_KERNEL_TRACEFS_H
#define HOG_LOADER_KERNEL_TRACEFS_H

#include <stdint.h>
#include "base/error.h"

/* Directory fd of tracefs: where it is mounted, else a mount of our own that is attached nowhere and ends
 * with the fd. */
int tracefs_open(struct error *why);

/* The same, but only where it is mounted already, and *place: -ENOENT, or -EACCES where it may be and is
 * closed to us. */
int tracefs_open_mounted(const char **place);

/* Id for perf_event_attr.config. */
int tracefs_event_id(const char *event, struct error *why);

/* Offset and size in bytes of a field of the event's record. -ENOENT: no such field. */
int tracefs_field(const char *event, const char *field, uint32_t *offset, uint32_t *size, struct error *why);

#endif
