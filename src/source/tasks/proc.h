/* SPDX-License-Identifier: GPL-2.0-only */
/* The records of bpf/tasks.bpf.c from /proc, for hosts without a task iterator. */
#ifndef HOG_SOURCE_TASKS_PROC_H
#define HOG_SOURCE_TASKS_PROC_H

#include <stdint.h>

struct hog_task;

/* Hands the records of a process or thread to fn: one with its counts and memory, and one a thread with what
 * that ran alone, unless it has too many of them. -ESRCH: there is none (any more). */
typedef void (*tasks_proc_fn)(void *context, const void *record); /* a struct hog_task */
int tasks_proc_read(uint64_t key, tasks_proc_fn fn, void *context);

#endif
