/* SPDX-License-Identifier: GPL-2.0-only */
/* Reading gzip, as /proc/config.gz is. */
#ifndef HOG_TESTS_OBJRUN_INFLATE_H
#define HOG_TESTS_OBJRUN_INFLATE_H

#include <stddef.h>
#include "base/error.h"

/* One member of RFC 1952. *out is malloc'ed, and a 0 stands behind its *out_size bytes. -EINVAL: damaged;
 * -E2BIG: more than `limit` bytes. */
int gunzip(const void *bytes, size_t size, size_t limit, char **out, size_t *out_size, struct error *why);

#endif
