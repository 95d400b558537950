/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of exited processes: the reader of bpf/lib/exit_names.bpf.h. */
#ifndef HOG_SOURCE_SHARED_EXIT_NAMES_H
#define HOG_SOURCE_SHARED_EXIT_NAMES_H

#include <stddef.h>
#include "host/names.h"

struct hog_exit_name;
struct sketch;

/* Where the table `exit_names` is in the head of a sketch, of type `head`. */
#define EXIT_NAMES(head)                                                                                     \
    offsetof(head, exit_names), sizeof((head *)NULL)->exit_names / sizeof *((head *)NULL)->exit_names

/* Looks a key up in the tables of n entries that all CPUs of a sketch have at `offset` of their heads. */
bool exit_name_of(const struct sketch *sketch, size_t offset, size_t n, uint64_t key, struct name *name);

/* All that there are. */
typedef void (*exit_name_fn)(void *context, uint64_t key, const struct name *name);
void exit_names_each(const struct sketch *sketch, size_t offset, size_t n, exit_name_fn fn, void *context);

#endif
