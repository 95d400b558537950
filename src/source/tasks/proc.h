/* SPDX-License-Identifier: GPL-2.0-only */
/* The records of bpf/tasks.bpf.c, read from /proc on hosts without a task iterator. */
#ifndef HOG_SOURCE_TASKS_PROC_H
#define HOG_SOURCE_TASKS_PROC_H

#include <stdint.h>

struct hog_task;

/* Calls fn for the records of a process or thread: one with its counts and memory, and one for each thread
 * with its run time, unless there are too many threads. -ESRCH: it does not exist (any more). */
typedef void (*tasks_proc_fn)(void *context, const void *record); /* a struct hog_task */
int tasks_proc_read(uint64_t key, tasks_proc_fn fn, void *context);

#endif
