/* SPDX-License-Identifier: GPL-2.0-only */
/* What /proc says of the memory of a process. */
#ifndef HOG_METRIC_MEM_PROC_H
#define HOG_METRIC_MEM_PROC_H

#include <stddef.h>
#include <stdint.h>

/* All KiB. */
struct mem_levels {
    uint64_t rss, anon, file, shmem, swap, vm;
    uint64_t high_rss, high_vm; /* the most since its last exec */
};

/* From the text of /proc/PID/status. -ENODATA: it has no memory: a thread of the kernel, or one that has
 * ended; -EIO: /proc speaks another language. */
int mem_parse_status(const char *text, size_t length, struct mem_levels *levels);

/* Of a process, by any of its threads; -ESRCH: there is none. */
int mem_read_status(uint32_t pid, struct mem_levels *levels);

/* Its proportional set size, KiB, by /proc/PID/smaps_rollup; takes its time: the kernel looks at all pages.
 */
int mem_parse_pss(const char *text, size_t length, uint64_t *kib);
int mem_read_pss(uint32_t pid, uint64_t *kib);

/* Calls fn with each process of /proc. 0 or -errno. */
typedef void (*mem_pid_fn)(void *context, uint32_t pid);
int mem_each_pid(mem_pid_fn fn, void *context);

#endif
