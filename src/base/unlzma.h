/* SPDX-License-Identifier: GPL-2.0-only */
/* Unpacks what `xz --format=lzma` has packed, as far as it is asked to: the objects in the binary are one
 * such stream. */
#ifndef HOG_BASE_UNLZMA_H
#define HOG_BASE_UNLZMA_H

#include <stddef.h>
#include "base/error.h"

struct unlzma;

/* Begins with a stream (kept by reference) that unpacks to `unpacked` bytes or more; what is behind them is
 * never looked at. -EINVAL: no such stream; -ENOMEM. */
int unlzma_open(struct unlzma **out, const void *bytes, size_t size, size_t unpacked, struct error *why);
void unlzma_close(struct unlzma *u); /* NULL is fine */

/* *out: what the stream has unpacked to, of which the first `wanted` bytes are there; they stay where they
 * are, and unchanged, until unlzma_close(). -EINVAL: damaged, or less than that. A stream has no checksum:
 * damage can also come out as other bytes. */
int unlzma_until(struct unlzma *u, size_t wanted, const char **out, struct error *why);

#endif
