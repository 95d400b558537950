/* SPDX-License-Identifier: GPL-2.0-only */
/* Where a classic tracepoint keeps its fields. */
#ifndef HOG_LOADER_KERNEL_TRACEFS_FORMAT_H
#define HOG_LOADER_KERNEL_TRACEFS_FORMAT_H

#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

/* event: "category/name". Offset and size in bytes of a field of its record, from tracefs. -ENOENT: no such
 * field. */
int tracefs_field(const char *event, const char *field, uint32_t *offset, uint32_t *size, struct error *why);

/* The same from the text of a format file. */
int format_field(const char *text, const char *field, uint32_t *offset, uint32_t *size);

#endif
