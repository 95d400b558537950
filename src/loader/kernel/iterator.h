/* SPDX-License-Identifier: GPL-2.0-only */
/* Reading what an attached iterator program writes (bpf_seq_write). */
#ifndef HOG_LOADER_KERNEL_ITERATOR_H
#define HOG_LOADER_KERNEL_ITERATOR_H

#include <stddef.h>

#define ITERATOR_RECORD 1024 /* no record is larger */

/* Runs the iterator of a link and hands each of its records of `size` bytes to fn, aligned to 8 bytes. 0 or
 * -errno: then fn has got only some of the records: that one is missing means nothing. */
typedef void (*iterator_fn)(void *context, const void *record);
int iterator_read(int link, size_t size, iterator_fn fn, void *context);

#endif
