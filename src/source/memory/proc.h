/* SPDX-License-Identifier: GPL-2.0-only */
/* What /proc says of the memory of a process. */
#ifndef HOG_SOURCE_MEMORY_PROC_H
#define HOG_SOURCE_MEMORY_PROC_H

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

/* Files that stay open: so to ask again costs less than half, and a process that has taken the number of one
 * that ended does not answer. Those that are asked least are closed for others. */
#define MEM_FILES 48
struct mem_files {
    struct mem_file {
        uint64_t key; /* of the process; 0: none */
        uint64_t used;
        int fd;
    } of[MEM_FILES];
    uint64_t reads;
};

/* -EAGAIN: there is no such file, or it does not tell; -ESRCH: the process has ended; else as
 * mem_parse_status(). */
int mem_files_read(struct mem_files *files, uint64_t key, struct mem_levels *levels);
void mem_files_open(struct mem_files *files, uint64_t key, uint32_t pid);
void mem_files_drop(struct mem_files *files, uint64_t key); /* 0: all */

/* Its proportional set size, KiB, by /proc/PID/smaps_rollup; takes its time: the kernel looks at all pages.
 */
int mem_parse_pss(const char *text, size_t length, uint64_t *kib);
int mem_read_pss(uint32_t pid, uint64_t *kib);

/* Calls fn with each process of /proc. 0 or -errno. */
typedef void (*mem_pid_fn)(void *context, uint32_t pid);
int mem_each_pid(mem_pid_fn fn, void *context);

#endif
