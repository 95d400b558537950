/* SPDX-License-Identifier: GPL-2.0-only */
/* The names that processes died with: the reader's side of bpf/lib/exit_names.bpf.h. */
#ifndef HOG_SOURCE_SHARED_EXIT_NAMES_H
#define HOG_SOURCE_SHARED_EXIT_NAMES_H

#include "host/names.h"

struct hog_dead;

/* Looks a key up in the table of one CPU. */
bool exit_name_find(const struct hog_dead *dead, size_t n, uint64_t key, struct name *name);

#endif
