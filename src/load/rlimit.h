/* SPDX-License-Identifier: GPL-2.0-only */
/* RLIMIT_MEMLOCK, which bounds BPF memory before 5.11 (commit 80ee81e0403c, "bpf: Eliminate rlimit-based
 * memory accounting infra for bpf maps"). */
#ifndef HOG_LOAD_RLIMIT_H
#define HOG_LOAD_RLIMIT_H

#include <stdbool.h>

/* For a call that the kernel refused with `err`: raises the limit as far as it goes, once a process. True if
 * the call is worth repeating. */
bool rlimit_raise_after(int err);

#endif
